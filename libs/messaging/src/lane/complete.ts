import { type JobRow, jobTableRow } from '../jobs/job-row.js';
import {
  DROP_MARK_TABLE,
  HELD_TABLE,
  INBOX_TABLE,
  JOB_TABLE,
  ANSWER_TABLE,
  TIMER_TABLE,
} from '../tables/lane-tables.js';
import type { CommandResult } from './batch.js';
import type { BatchWrites } from './batch-writes.js';
import type { Decision } from './decision.js';
import type { Fragment } from './fragment.js';
import type { Positions } from './positions.js';
import type { Settled } from './settle.js';
import type { DispatchWork, Work } from './work.js';

/** A batch that is committed, with all that follows from it in memory. */
export interface Completion {
  readonly works: readonly Work[];
  readonly decision: Decision;
  readonly writes: BatchWrites;
  readonly positions: Positions;
  readonly settled: Settled;
  /** monotonic time before the batch was decided */
  readonly startedAt: number;
  readonly nowMs: number;
}

/**
 * What the lane writes for a work that is done, before the handler's own writes: a handler that sets the same timer or starts the same job
 * again wins. It is dropped with the fragment when the handler throws.
 */
export function completeWork(work: Work, fragment: Fragment): void {
  switch (work.origin) {
    case 'bus':
      return inboxRow(work, fragment);
    case 'held':
      inboxRow(work, fragment);
      return fragment.write(HELD_TABLE, 'remove', { key: work.row.key, n: work.row.n });
    case 'timer':
      return fragment.write(TIMER_TABLE, 'remove', { key: work.entry.key, name: work.entry.name });
    case 'job':
      return fragment.write(JOB_TABLE, 'remove', { id: work.job });
    case 'mailbox':
      return dropRows(work, fragment);
    case 'dispatch':
      return undefined;
  }
}

/** What the lane writes after the handler: a command's result, a job that is dispatched now. */
export function finishWork(fragment: Fragment): void {
  const { work } = fragment;
  const answered = work.origin === 'mailbox' || work.origin === 'job' ? work.mailbox : undefined;
  if (answered !== undefined)
    fragment.write(ANSWER_TABLE, 'answer', { id: answered.id, result: JSON.stringify(resultOf(fragment)) });
  if (work.origin !== 'dispatch') return;
  if (fragment.isJobDropped) fragment.write(JOB_TABLE, 'remove', { id: work.row.id });
  else fragment.write(JOB_TABLE, 'put', jobTableRow(dispatchedRow(work, fragment)));
}

export function resultOf(fragment: Fragment): CommandResult {
  return fragment.result ?? { ok: true, value: null };
}

export function dispatchedRow({ row }: DispatchWork, { context }: Fragment): JobRow {
  return { ...row, state: 'dispatched', owner: context.owner, dispatchBy: context.nowMs + row.dispatchByMs };
}

function inboxRow(work: Work, fragment: Fragment): void {
  const { input, handler } = work;
  if (input?.kind !== 'event') return;
  const consumer = handler?.patterns.inbox;
  if (consumer === undefined) return;
  const { source } = input.event;
  fragment.write(INBOX_TABLE, 'insert', { consumer, source, id: input.id, seen_at: fragment.context.time });
}

function dropRows(work: Work, fragment: Fragment): void {
  if (work.origin !== 'mailbox' || work.drop === undefined) return;
  const { row, by, reason } = work.drop;
  const { key, n, source, id } = row;
  fragment.write(HELD_TABLE, 'remove', { key, n });
  const dropped_at = fragment.context.time;
  fragment.write(DROP_MARK_TABLE, 'once', { source, id, shard: work.shard.id, key, by, reason, dropped_at });
}
