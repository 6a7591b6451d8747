import { eventNameOf, type Principal, type Topic } from '@lineclear/contracts';
import type { BusRecord } from '../bus/bus.js';
import { isHeldCommand } from '../held/held-commands.js';
import type { HeldRow } from '../held/held-row.js';
import { type FinishedJob, JobRunner } from '../jobs/job-runner.js';
import type { JobRow } from '../jobs/job-row.js';
import type { MailboxRow } from '../mailbox/mailbox-row.js';
import { DueQueue, timerKey } from '../timers/timer-queue.js';
import type { DatabaseClock } from './database-clock.js';
import { decodeRecord, type Reader, recordBytes } from './decode.js';
import { InputQueue } from './input-queue.js';
import type { JobOutcome, LaneInput } from './input.js';
import type { Shard, TimerEntry } from './shard.js';
import type { Work } from './work.js';

const SMALL_BYTES = 500;

export interface LostLater {
  readonly shard: Shard;
  readonly row: JobRow;
}

/** What the lane has in memory beside its shards: all that waits, for a batch or for its time. */
export class LaneMemory {
  readonly shards = new Map<number, Shard>();
  readonly queue = new InputQueue();
  readonly timers = new DueQueue<TimerEntry>();
  readonly heldDue = new DueQueue<{ readonly shard: Shard; readonly key: string }>();
  readonly lostDue = new DueQueue<LostLater>();
  readonly later = new DueQueue<Work>();
  /** mailbox rows that are queued or in a batch */
  readonly knownMail = new Map<string, Shard>();
  /** held messages that are queued or in a batch, by heldId */
  readonly queuedHeld = new Set<string>();
  /** commands about held messages: their rows are read before the next batch */
  readonly controls: MailboxRow[] = [];
  /** timers due later than this are left in the table; milliseconds on the database's clock */
  timersUntil = 0;
  readonly jobs: JobRunner;
  readonly #foreseen = new Set<BusRecord>();
  /** told when a job is done whose shard is not here any more */
  onStray: () => void = () => undefined;
  /** told when the positions of a shard moved without a batch; undefined where the broker keeps them and must hear of each */
  onPassed: ((shard: Shard) => void) | undefined;

  constructor(
    readonly owner: string,
    readonly clock: DatabaseClock,
    readonly reader: Reader,
    readonly wake: () => void,
  ) {
    this.jobs = new JobRunner(
      reader.registry.executors,
      (job) => this.addFinished(job),
      (kind) => this.#dispatchNext(kind),
    );
  }

  addRecord(record: BusRecord): void {
    const shard = this.shards.get(record.partition);
    if (shard?.isOpen !== true || this.#foreseen.has(record)) return;
    const decoded = decodeRecord(record, shard, this.reader);
    const pending = shard.pending.get(record.topic) ?? 0;
    if (decoded.fate === 'skip' && pending === 0 && this.onPassed !== undefined) return this.#pass(shard, record);
    shard.pending.set(record.topic, pending + 1);
    this.queue.push({ ...decoded, origin: 'bus', shard, record, bytes: recordBytes(record), tries: 0 });
    this.wake();
  }

  /**
   * A record that is being appended and not committed yet, as the work that it will be; the caller has made sure that the bus would deliver it next.
   * Undefined while an earlier message of its topic and shard waits that is not among the `inBatch` ones of the batch: it must come after that one.
   */
  foresee(record: BusRecord, inBatch: number): Work | 'skip' | undefined {
    const shard = this.shards.get(record.partition);
    if (shard?.isOpen !== true) return undefined;
    const { topic } = record;
    const pending = shard.pending.get(topic) ?? 0;
    if (pending !== inBatch) return undefined;
    const decoded = decodeRecord(record, shard, this.reader);
    if (decoded.fate === 'skip') return 'skip';
    shard.pending.set(topic, pending + 1);
    return { ...decoded, origin: 'bus', shard, record, bytes: recordBytes(record), tries: 0 };
  }

  /** These are done, and need nothing when the bus delivers them right now. */
  foreseen(works: readonly Work[]): void {
    this.#foreseen.clear();
    for (const work of works) if (work.origin === 'bus') this.#foreseen.add(work.record);
  }

  /** A message that is nothing to us, with none before it that is still to be done: it needs no batch. */
  #pass(shard: Shard, { topic, offset }: BusRecord): void {
    if (offset < (shard.positions.get(topic) ?? 0n)) return;
    shard.positions.set(topic, offset + 1n);
    this.onPassed?.(shard);
  }

  /** Messages that are done, or known to need nothing. */
  settled(works: readonly Work[]): void {
    for (const work of works) {
      if (work.origin !== 'bus') continue;
      const { shard, record } = work;
      shard.pending.set(record.topic, (shard.pending.get(record.topic) ?? 1) - 1);
    }
  }

  /** A message of `held` whose turn it is. */
  addHeld(shard: Shard, row: HeldRow): void {
    if (this.queuedHeld.has(row.heldId)) return;
    this.queuedHeld.add(row.heldId);
    const record: BusRecord = {
      topic: row.topic,
      partition: row.partition,
      offset: row.offset,
      key: row.key,
      headers: JSON.parse(row.headers) as Record<string, string>,
      value: row.data,
    };
    const { fate, input, handler, traceparent, error } = decodeRecord(record, shard, this.reader, true);
    const skip = fate === 'skip';
    const bytes = recordBytes(record);
    this.queue.push({
      origin: 'held',
      shard,
      key: row.key,
      row,
      skip,
      error,
      input,
      handler,
      traceparent,
      bytes,
      tries: 0,
    });
    this.wake();
  }

  addTimer(entry: TimerEntry): void {
    this.timers.push(entry.dueAt, entry);
  }

  /** Moves what is due into the queue. */
  takeDue(): void {
    const now = this.clock.now();
    for (let entry = this.timers.take(now); entry !== undefined; entry = this.timers.take(now)) this.#fire(entry);
    for (let work = this.later.take(now); work !== undefined; work = this.later.take(now))
      if (work.shard.isLost) this.discard(work);
      else this.queue.push(work);
    for (let lost = this.lostDue.take(now); lost !== undefined; lost = this.lostDue.take(now))
      if (!lost.shard.isLost) this.addOutcome(lost.shard, lost.row, { status: 'lost' });
  }

  /** Database time of the next thing due, or undefined. */
  get nextDue(): number | undefined {
    const times = [this.timers.next, this.later.next, this.lostDue.next, this.heldDue.next];
    const known = times.filter((time) => time !== undefined);
    return known.length === 0 ? undefined : Math.min(...known);
  }

  #fire(entry: TimerEntry): void {
    const { shard, key, name, dueAt, payload } = entry;
    if (shard.isLost || shard.timers.get(timerKey(key, name)) !== entry) return;
    const input: LaneInput = {
      kind: 'timer',
      id: `${key}/${name}/${dueAt}`,
      key,
      shard: shard.id,
      name,
      payload: JSON.parse(payload) as unknown,
      dueAt: new Date(dueAt),
    };
    this.queue.push({
      origin: 'timer',
      shard,
      key,
      entry,
      input,
      handler: this.reader.registry.find('timer', name),
      traceparent: undefined,
      bytes: SMALL_BYTES,
      tries: 0,
    });
  }

  /** A job's executor is done; if its shard is gone the result is kept until it is handed over. */
  addFinished({ row, outcome }: FinishedJob): void {
    const shard = this.shards.get(row.shard);
    if (shard === undefined) this.onStray();
    else this.addOutcome(shard, row, outcome);
  }

  addOutcome(shard: Shard, row: JobRow, outcome: JobOutcome, mailbox?: MailboxRow): void {
    const { id, key, kind, attempt, payload } = row;
    const input: LaneInput = {
      kind: 'job',
      id,
      key,
      shard: shard.id,
      job: kind,
      attempt,
      payload: JSON.parse(payload) as unknown,
      outcome,
    };
    const traceparent = row.traceparent ?? undefined;
    this.queue.push({
      origin: 'job',
      shard,
      key,
      job: id,
      attempt,
      mailbox,
      input,
      handler: this.reader.registry.find('job', kind),
      traceparent,
      bytes: SMALL_BYTES + payload.length,
      tries: 0,
    });
    this.wake();
  }

  /** Slots are free: the next queued jobs are asked for once more, then dispatched. */
  #dispatchNext(kind: string): void {
    for (let row = this.jobs.nextQueued(kind); row !== undefined; row = this.jobs.nextQueued(kind)) {
      const shard = this.shards.get(row.shard);
      if (shard === undefined || shard.jobs.get(row.id) !== row) {
        this.jobs.unreserve(kind);
        continue;
      }
      const { id, key, attempt, payload } = row;
      const input: LaneInput = {
        kind: 'dispatch',
        id,
        key,
        shard: shard.id,
        job: kind,
        attempt,
        payload: JSON.parse(payload) as unknown,
      };
      const traceparent = row.traceparent ?? undefined;
      const handler = this.reader.registry.find('dispatch', kind);
      this.queue.push({
        origin: 'dispatch',
        shard,
        key,
        row,
        input,
        handler,
        traceparent,
        bytes: SMALL_BYTES,
        tries: 0,
      });
      this.wake();
    }
  }

  /** A mailbox row, from this process right after its commit or from the table; either may be first. */
  addMail(row: MailboxRow): void {
    const shard = this.shards.get(row.shard);
    if (shard === undefined || this.knownMail.has(row.id)) return;
    this.knownMail.set(row.id, shard);
    if (row.kind === 'job-result') this.#addMailedResult(shard, row);
    else if (isHeldCommand(row)) this.controls.push(row);
    else this.queue.push(this.#mailWork(shard, row));
    this.wake();
  }

  #addMailedResult(shard: Shard, mail: MailboxRow): void {
    const { job, outcome } = JSON.parse(mail.payload) as { job: JobRow; outcome: JobOutcome };
    this.addOutcome(shard, job, outcome, mail);
  }

  #mailWork(shard: Shard, mail: MailboxRow): Work {
    const { key, traceparent } = mail;
    const base = { origin: 'mailbox', shard, key, mailbox: mail, bytes: SMALL_BYTES + mail.payload.length } as const;
    const trace = traceparent ?? undefined;
    if (mail.kind === 'emit') {
      const { id, name, payload } = mail;
      const { headers, value } = JSON.parse(payload) as { headers: string; value: string };
      return {
        ...base,
        input: undefined,
        handler: undefined,
        traceparent: trace,
        tries: 0,
        settle: (fragment) =>
          void fragment.events.push({
            topic: name as Topic,
            partition: shard.id,
            key,
            tenant: mail.tenant,
            id: id.slice('emit/'.length),
            headers,
            value,
            event: undefined,
          }),
      };
    }
    const input: LaneInput = {
      kind: 'command',
      id: mail.id,
      key,
      shard: shard.id,
      name: mail.name,
      tenant: mail.tenant,
      payload: JSON.parse(mail.payload) as unknown,
      by: mail.by === null ? null : (JSON.parse(mail.by) as Principal),
    };
    const handler = this.reader.registry.find('command', mail.name);
    return { ...base, input, handler, traceparent: trace, tries: 0 };
  }

  /** Asks for the first held message of a key when its time has come. A parked one waits for an operator, or for a release that knows its type. */
  scheduleHeld(shard: Shard, key: string): void {
    const first = shard.held.first(key);
    if (first === undefined) return;
    const isKnownNow = first.code === 'unknown-type' && this.#knows(first.type);
    if (first.state === 'parked' && !isKnownNow) return;
    this.heldDue.push(first.state === 'retrying' ? (first.dueAt ?? 0) : 0, { shard, key });
    this.wake();
  }

  #knows(type: string): boolean {
    const name = eventNameOf(type);
    return name !== undefined && this.reader.registry.find('event', name) !== undefined;
  }

  /** Forgets shards that are lost. Jobs that run go on. */
  drop(ids: readonly number[]): Shard[] {
    const lost = new Set(ids.flatMap((id) => this.shards.get(id) ?? []));
    for (const shard of lost) {
      shard.isLost = true;
      this.shards.delete(shard.id);
      for (const work of this.queue.drop(shard)) this.discard(work);
    }
    for (const [id, shard] of this.knownMail) if (lost.has(shard)) this.knownMail.delete(id);
    this.jobs.unqueue((row) => ids.includes(row.shard));
    return [...lost];
  }

  /** Puts works of a batch that was not committed back; those of lost shards are gone. */
  putBack(works: readonly Work[]): void {
    for (const work of works) if (work.shard.isLost) this.discard(work);
    this.queue.putBack(works);
  }

  discard(work: Work): void {
    if (work.origin === 'dispatch') this.jobs.free(work.row.kind);
    if (work.origin === 'held') this.queuedHeld.delete(work.row.heldId);
  }
}
