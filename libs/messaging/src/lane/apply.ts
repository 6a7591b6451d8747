import type { BusMembership, BusPosition } from '../bus/bus.js';
import { message } from '../held/held-index.js';
import type { HeldRow } from '../held/held-row.js';
import type { Mailbox } from '../mailbox/mailbox.js';
import { timerKey } from '../timers/timer-queue.js';
import { toFailure } from '@lineclear/errors';
import { type Completion, dispatchedRow, resultOf } from './complete.js';
import type { LaneCounters } from './counters.js';
import type { Fragment } from './fragment.js';
import type { LaneMemory } from './memory.js';
import type { Positions } from './positions.js';
import type { Shard } from './shard.js';
import type { Work } from './work.js';

export interface ApplyOptions {
  readonly memory: LaneMemory;
  readonly mailbox: Mailbox;
  readonly counters: LaneCounters;
  membership(): BusMembership | undefined;
}

/** All that follows from a commit in memory, in the order of the batch. Others may read what it appended only after this. */
export function applyCompletion(completion: Completion, options: ApplyOptions): void {
  const { decision, writes, positions, settled, startedAt, works } = completion;
  const { memory } = options;
  for (const [shard, topics] of positions) for (const [topic, next] of topics) shard.positions.set(topic, next);
  for (const fragment of decision.fragments) applyFragment(fragment, completion, options);
  for (const [id, row] of writes.startedJobs) {
    const shard = memory.shards.get(row.shard);
    shard?.jobs.set(id, row);
    if (row.state === 'dispatched') memory.jobs.start(row, startedAt + row.dispatchByMs);
    else memory.jobs.enqueue(row);
  }
  for (const id of writes.abortedJobs) memory.jobs.abort(id, 'aborted by its run');
  for (const work of decision.stale) applyStale(work, memory);
  for (const { shard, row, isNew } of settled.heldRows) {
    applyHeld(shard, row, isNew, memory);
    if (isNew) options.counters.held += 1;
    if (row.state === 'parked') options.counters.parked += 1;
  }
  for (const { work, afterMs } of settled.later) memory.later.push(memory.clock.now() + afterMs, work);
  for (const work of works) if (work.origin === 'held') memory.queuedHeld.delete(work.row.heldId);
  const notYet = new Set(settled.notYet);
  memory.settled(notYet.size === 0 ? works : works.filter((work) => !notYet.has(work)));
  memory.putBack(settled.notYet);
  for (const { id, error } of settled.failedCommands) {
    memory.knownMail.delete(id);
    options.mailbox.answered(id, { ok: false, failure: toFailure(error) });
  }
  if (works.some(({ origin }) => origin === 'bus')) options.membership()?.acknowledge(busPositions(positions));
}

function busPositions(positions: Positions): BusPosition[] {
  const list: BusPosition[] = [];
  for (const [shard, topics] of positions)
    for (const [topic, next] of topics) list.push({ topic: topic as BusPosition['topic'], partition: shard.id, next });
  return list;
}

function applyFragment(fragment: Fragment, completion: Completion, options: ApplyOptions): void {
  const { memory } = options;
  const { work } = fragment;
  applyWork(fragment, completion, options);
  for (const { key, name, timer } of fragment.timers) {
    const id = timerKey(key, name);
    work.shard.timers.delete(id);
    const dueAt = timer?.dueAt.getTime();
    if (timer === undefined || dueAt === undefined || dueAt >= memory.timersUntil) continue;
    const entry = { shard: work.shard, key, name, dueAt, payload: JSON.stringify(timer.payload ?? null) };
    work.shard.timers.set(id, entry);
    memory.addTimer(entry);
  }
  for (const id of fragment.abortedJobs) {
    if (work.shard.jobs.get(id)?.state !== 'queued') continue;
    work.shard.jobs.delete(id);
    memory.jobs.unqueue((row) => row.id === id);
  }
  for (const row of fragment.commands) memory.addMail(row);
}

/** The work's own row is gone. */
function applyWork(fragment: Fragment, { startedAt }: Completion, { memory, mailbox, counters }: ApplyOptions): void {
  const { work } = fragment;
  const { shard } = work;
  switch (work.origin) {
    case 'bus':
      return undefined;
    case 'held':
      return removeHeld(shard, work.row, memory);
    case 'timer':
      shard.timers.delete(timerKey(work.entry.key, work.entry.name));
      return undefined;
    case 'job':
      releaseJob(work.shard, work.job, work.attempt, memory);
      if (work.mailbox !== undefined) memory.knownMail.delete(work.mailbox.id);
      return undefined;
    case 'dispatch':
      if (fragment.isJobDropped) shard.jobs.delete(work.row.id);
      else {
        const row = dispatchedRow(work, fragment);
        shard.jobs.set(row.id, row);
        memory.jobs.start(row, startedAt + row.dispatchByMs);
      }
      memory.jobs.free(work.row.kind);
      return undefined;
    case 'mailbox':
      memory.knownMail.delete(work.mailbox.id);
      mailbox.answered(work.mailbox.id, resultOf(fragment));
      if (work.redriven !== undefined) applyHeld(shard, work.redriven, false, memory);
      if (work.drop === undefined) return undefined;
      counters.dropped += 1;
      shard.drops.add(message(work.drop.row.source, work.drop.row.id));
      return removeHeld(shard, work.drop.row, memory);
  }
}

function releaseJob(shard: Shard, id: string, attempt: number, memory: LaneMemory): void {
  if (shard.jobs.get(id)?.attempt === attempt) shard.jobs.delete(id);
  memory.jobs.release(id, attempt);
}

function removeHeld(shard: Shard, row: HeldRow, memory: LaneMemory): void {
  if (shard.held.remove(row) !== undefined) memory.scheduleHeld(shard, row.key);
}

function applyHeld(shard: Shard, row: HeldRow, isNew: boolean, memory: LaneMemory): void {
  if (isNew) shard.held.append(row);
  else shard.held.replace(row);
  if (shard.held.first(row.key)?.n === row.n) memory.scheduleHeld(shard, row.key);
}

function applyStale(work: Work, memory: LaneMemory): void {
  if (work.origin === 'dispatch') memory.jobs.free(work.row.kind);
  if (work.origin === 'job') memory.jobs.release(work.job, work.attempt);
}
