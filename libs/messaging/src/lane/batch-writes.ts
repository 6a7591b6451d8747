import type { Topic } from '@lineclear/contracts';
import type { BusRecord } from '../bus/bus.js';
import { type JobRow, jobTableRow } from '../jobs/job-row.js';
import type { MailboxRow } from '../mailbox/mailbox-row.js';
import { type EncodedEvent, LoggedRecord } from '../outbox/encoded-event.js';
import { JOB_TABLE, MAILBOX_TABLE, OUTBOX_TABLE } from '../tables/lane-tables.js';
import type { NewJob } from './batch.js';
import type { Fragment } from './fragment.js';
import type { Shard } from './shard.js';
import { type OpKind, TableFold } from './table-fold.js';
import type { Row, TableSpec } from './table.js';
import type { Work } from './work.js';

const DAY_MS = 86_400_000;

export interface BatchSurroundings {
  /** shards that this lane owns now, by number */
  readonly shards: ReadonlyMap<number, Shard>;
  readonly owner: string;
  /** free slots for jobs of that kind, less what waits in front */
  freeSlots(kind: string): number;
}

/** The fragments of a batch, folded; and what is done in memory once they are committed. */
export class BatchWrites {
  readonly folds = new Map<TableSpec, TableFold<Work>>();
  readonly touched = new Set<Shard>();
  readonly records: BusRecord[] = [];
  readonly effects: (() => void)[] = [];
  readonly #heads = new Map<Shard, Map<Topic, bigint>>();
  readonly #slots = new Map<string, number>();

  constructor(
    private readonly nowMs: number,
    private readonly around: BatchSurroundings,
  ) {}

  /** All or nothing. @throws ConflictError when an earlier input of the batch wrote what this one expects otherwise */
  merge(fragment: Fragment): void {
    const { work } = fragment;
    const undo: (() => void)[] = [];
    try {
      for (const { table, kind, row, expect } of fragment.ops) undo.push(this.fold(table).add(kind, row, work, expect));
    } catch (error) {
      for (const back of undo.reverse()) back();
      throw error;
    }
    this.touched.add(work.shard);
    for (const event of fragment.events) this.#append(event, work);
    for (const id of fragment.abortedJobs) this.#abortJob(id, work);
    for (const { job, payload } of fragment.jobs) this.#startJob(job, payload, work);
  }

  /** One operation of the lane itself. */
  write(table: TableSpec, kind: OpKind, row: Row, work: Work): void {
    this.fold(table).add(kind, row, work);
    this.touched.add(work.shard);
  }

  fold(table: TableSpec): TableFold<Work> {
    let fold = this.folds.get(table);
    if (fold === undefined) this.folds.set(table, (fold = new TableFold(table)));
    return fold;
  }

  /** Whether this batch has written that row already. */
  has(table: TableSpec, key: string): boolean {
    return this.folds.get(table)?.ops.has(key) ?? false;
  }

  /** Puts a job that got a slot into state `dispatched`, or a new one into its queue. */
  writeJob(row: JobRow, work: Work): void {
    this.write(JOB_TABLE, 'put', jobTableRow(row), work);
  }

  /** Offsets are the owner's: contiguous per topic and shard, and real only with the commit. */
  #append(event: EncodedEvent, work: Work): void {
    const shard = event.partition === work.shard.id ? work.shard : this.around.shards.get(event.partition);
    if (shard === undefined) return this.#forward(event, work);
    const { topic, partition, key, id, headers, value } = event;
    const heads = this.#headsOf(shard);
    const offset = heads.get(topic) ?? shard.heads.get(topic) ?? 0n;
    heads.set(topic, offset + 1n);
    this.records.push(new LoggedRecord(event, offset));
    const bucket = Math.floor(this.nowMs / DAY_MS);
    this.write(OUTBOX_TABLE, 'append', { topic, partition, offset, key, id, headers, data: value, bucket }, work);
    this.touched.add(shard);
  }

  /** Only the owner of a shard writes its log: to another replica's the event goes through the mailbox. */
  #forward({ topic, partition, key, id, tenant, headers, value }: EncodedEvent, work: Work): void {
    const payload = JSON.stringify({ headers, value });
    const base = { id: `emit/${id}`, shard: partition, kind: 'emit', name: topic, key, tenant } as const;
    const row: MailboxRow = { ...base, payload, by: null, traceparent: null };
    this.write(MAILBOX_TABLE, 'once', { ...row }, work);
  }

  #headsOf(shard: Shard): Map<Topic, bigint> {
    let heads = this.#heads.get(shard);
    if (heads === undefined) this.#heads.set(shard, (heads = new Map()));
    return heads;
  }

  /** Heads advance after the commit only. */
  advanceHeads(): void {
    for (const [shard, heads] of this.#heads) for (const [topic, next] of heads) shard.heads.set(topic, next);
  }

  takeSlot(kind: string): boolean {
    const taken = this.#slots.get(kind) ?? 0;
    if (this.around.freeSlots(kind) - taken <= 0) return false;
    this.#slots.set(kind, taken + 1);
    return true;
  }

  readonly startedJobs = new Map<string, JobRow>();
  readonly abortedJobs = new Set<string>();

  #startJob(job: NewJob, payload: string, work: Work): void {
    const { id, kind, key, tenant, attempt, dispatchByMs, timeoutMs, lost } = job;
    const known = work.shard.jobs.get(id);
    const isRepetition = known?.attempt === attempt && !this.has(JOB_TABLE, id);
    if (isRepetition || this.startedJobs.get(id)?.attempt === attempt) return;
    const hasSlot = this.takeSlot(kind);
    const row: JobRow = {
      id,
      shard: work.shard.id,
      kind,
      key,
      tenant,
      attempt,
      payload,
      traceparent: work.traceparent ?? null,
      state: hasSlot ? 'dispatched' : 'queued',
      owner: hasSlot ? this.around.owner : null,
      dispatchBy: hasSlot ? this.nowMs + dispatchByMs : null,
      dispatchByMs,
      timeoutMs,
      lost,
    };
    this.writeJob(row, work);
    this.startedJobs.set(id, row);
  }

  /** A job that was not dispatched goes; one that runs is aborted once this is committed, and its result is still to come. */
  #abortJob(id: string, work: Work): void {
    const known = this.startedJobs.get(id) ?? work.shard.jobs.get(id);
    if (known === undefined) return;
    if (this.startedJobs.delete(id) || known.state === 'queued') this.write(JOB_TABLE, 'remove', { id }, work);
    else this.abortedJobs.add(id);
  }
}
