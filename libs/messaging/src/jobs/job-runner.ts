import { CancelledError } from '@lineclear/errors';
import type { JobOutcome } from '../lane/input.js';
import type { Executor } from '../lane/registry.js';
import type { JobRow } from './job-row.js';
import { runJob } from './running-job.js';

export interface FinishedJob {
  readonly row: JobRow;
  readonly outcome: JobOutcome;
}

interface Held {
  readonly row: JobRow;
  readonly abort: AbortController;
  /** undefined while it runs */
  outcome: JobOutcome | undefined;
  /** the result was put into the mailbox of another replica's shard */
  isMailed: boolean;
}

/**
 * The executors of this process. A job is held from its start until the lane has committed its result, so that a retake neither starts it
 * again nor loses the result.
 */
export class JobRunner {
  readonly #held = new Map<string, Held>();
  readonly #running = new Map<string, number>();
  /** slots kept for queued jobs that are on their way to be dispatched */
  readonly #reserved = new Map<string, number>();
  readonly #queues = new Map<string, FairQueue>();
  #isDraining = false;
  started = 0;

  /** @param finished told of each outcome; `freed` of each slot that became free */
  constructor(
    private readonly executors: ReadonlyMap<string, Executor>,
    private readonly finished: (job: FinishedJob) => void,
    private readonly freed: (kind: string) => void,
  ) {}

  has(kind: string): boolean {
    return this.executors.has(kind);
  }

  /** Slots for new jobs; none while others wait. */
  freeSlots(kind: string): number {
    return this.#slots(kind) - (this.#queues.get(kind)?.size ?? 0);
  }

  /** From now on nothing new is started: what comes is queued, for the next process. */
  drain(): void {
    this.#isDraining = true;
  }

  #slots(kind: string): number {
    if (this.#isDraining) return 0;
    const concurrency = this.executors.get(kind)?.kind.concurrency ?? 0;
    return concurrency - (this.#running.get(kind) ?? 0) - (this.#reserved.get(kind) ?? 0);
  }

  /** CAUTION: only after the row is committed as dispatched by this owner. */
  start(row: JobRow, dispatchDeadline: number): void {
    const executor = this.executors.get(row.kind);
    if (executor === undefined) return;
    const held: Held = { row, abort: new AbortController(), outcome: undefined, isMailed: false };
    this.#held.set(row.id, held);
    this.#running.set(row.kind, (this.#running.get(row.kind) ?? 0) + 1);
    this.started += 1;
    void runJob(row, executor.execute, dispatchDeadline, held.abort).then((outcome) => {
      held.outcome = outcome;
      this.#running.set(row.kind, (this.#running.get(row.kind) ?? 1) - 1);
      this.finished({ row, outcome });
      this.freed(row.kind);
    });
  }

  /** Lets a job wait for a slot. */
  enqueue(row: JobRow): void {
    let queue = this.#queues.get(row.kind);
    if (queue === undefined) this.#queues.set(row.kind, (queue = new FairQueue()));
    queue.push(row);
    this.freed(row.kind);
  }

  /** Takes the next that waits, tenants in turn, if a slot is free; the slot is kept until `unreserve`. */
  nextQueued(kind: string): JobRow | undefined {
    const row = this.#slots(kind) > 0 ? this.#queues.get(kind)?.shift() : undefined;
    if (row !== undefined) this.#reserved.set(kind, (this.#reserved.get(kind) ?? 0) + 1);
    return row;
  }

  unreserve(kind: string): void {
    this.#reserved.set(kind, (this.#reserved.get(kind) ?? 1) - 1);
  }

  /** The same, and the slot is offered to the next that waits. */
  free(kind: string): void {
    this.unreserve(kind);
    this.freed(kind);
  }

  /** Forgets queued jobs that match; running ones go on. */
  unqueue(matches: (row: JobRow) => boolean): void {
    for (const queue of this.#queues.values()) queue.remove(matches);
  }

  abort(id: string, reason: string): void {
    this.#held.get(id)?.abort.abort(new CancelledError(reason));
  }

  /** undefined: not held here; `outcome` undefined: still running */
  find(id: string, attempt: number): { readonly row: JobRow; readonly outcome: JobOutcome | undefined } | undefined {
    const held = this.#held.get(id);
    return held?.row.attempt === attempt ? held : undefined;
  }

  /** The result is committed, here or in the mailbox. */
  release(id: string, attempt: number): void {
    if (this.#held.get(id)?.row.attempt === attempt) this.#held.delete(id);
  }

  /** Results of these shards whose commit is not known yet and that are in no mailbox. */
  unreleased(isElsewhere: (shard: number) => boolean): FinishedJob[] {
    const list: FinishedJob[] = [];
    for (const { row, outcome, isMailed } of this.#held.values())
      if (outcome !== undefined && !isMailed && isElsewhere(row.shard)) list.push({ row, outcome });
    return list;
  }

  /** The result is in a mailbox. It stays held: should the shard come back here first, the job must not be started again. */
  mailed({ row }: FinishedJob): void {
    const held = this.#held.get(row.id);
    if (held?.row.attempt === row.attempt) held.isMailed = true;
  }

  get runningNow(): number {
    let running = 0;
    for (const count of this.#running.values()) running += count;
    return running;
  }

  get queuedNow(): number {
    let queued = 0;
    for (const { size } of this.#queues.values()) queued += size;
    return queued;
  }

  abortAll(reason: string): void {
    for (const [id, { outcome }] of this.#held) if (outcome === undefined) this.abort(id, reason);
  }
}

/** Tenants in turn, each first in first out. */
class FairQueue {
  readonly #byTenant = new Map<string, JobRow[]>();
  size = 0;

  push(row: JobRow): void {
    const rows = this.#byTenant.get(row.tenant);
    if (rows === undefined) this.#byTenant.set(row.tenant, [row]);
    else rows.push(row);
    this.size += 1;
  }

  shift(): JobRow | undefined {
    for (const [tenant, rows] of this.#byTenant) {
      const row = rows.shift();
      this.#byTenant.delete(tenant);
      if (rows.length > 0) this.#byTenant.set(tenant, rows);
      if (row === undefined) continue;
      this.size -= 1;
      return row;
    }
    return undefined;
  }

  remove(matches: (row: JobRow) => boolean): void {
    for (const [tenant, rows] of this.#byTenant) {
      const rest = rows.filter((row) => !matches(row));
      this.size -= rows.length - rest.length;
      if (rest.length === 0) this.#byTenant.delete(tenant);
      else this.#byTenant.set(tenant, rest);
    }
  }
}
