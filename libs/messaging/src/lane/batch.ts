import type { EventData, EventName, Label, Principal } from '@lineclear/contracts';
import type { Failure } from '@lineclear/errors';
import type { LaneInput } from './input.js';
import type { Row, TableSpec } from './table.js';

/** Reads on the lane's own connection, before the batch's statement; sees everything committed, and nothing that earlier inputs of the batch want written. */
export interface ReadHandle {
  query<R extends object>(text: string, values?: readonly unknown[]): Promise<R[]>;
}

/** Where an aggregate's state comes from when the cache does not hold it. One query for all keys; missing keys are left out. */
export interface StateStore<S> {
  readonly name: string;
  load(keys: readonly string[], read: ReadHandle): Promise<ReadonlyMap<string, S>>;
}

export interface NewEvent<N extends EventName = EventName> {
  readonly name: N;
  /** aggregate id: subject, partition key and shard */
  readonly key: string;
  readonly tenant: string;
  readonly data: EventData<N>;
  /** default: the key */
  readonly correlationId?: string;
  /** default: internal, trusted */
  readonly label?: Label;
  /** position of this event among those of its aggregate and source, for checks and latest-wins projections */
  readonly sequence?: number;
}

export interface NewJob {
  /** derived, so that a re-run repeats it; unique per service */
  readonly id: string;
  readonly kind: string;
  readonly key: string;
  readonly tenant: string;
  readonly attempt: number;
  readonly payload: unknown;
  /** an executor that has not sent by then reports `not-dispatched` */
  readonly dispatchByMs: number;
  readonly timeoutMs: number;
  /** `at-once`: told as soon as the owner is dead; `quiet`: only after dispatch-by + time-out, when no attempt can act any more */
  readonly lost: 'at-once' | 'quiet';
}

export interface NewTimer {
  readonly key: string;
  /** unique per key; setting it again moves it */
  readonly name: string;
  readonly dueAt: Date;
  readonly payload?: unknown;
}

export interface NewCommand {
  /** derived or random; the same id is accepted once */
  readonly id: string;
  readonly name: string;
  readonly key: string;
  readonly tenant: string;
  readonly payload: unknown;
  readonly by: Principal | null;
}

export type CommandResult =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly failure: Failure };

/**
 * What one input wants written. Nothing is sent before the whole batch is decided; then one statement holds every fragment, folded to one net
 * write per row. A fragment whose handler throws is dropped whole.
 */
export interface WriteSet {
  /** Guarded: a row with this key already there fails the input with ConflictError(`version-moved`) after a reload and one repetition. */
  insert(table: TableSpec, row: Row): void;
  /** Append-only insert of a derived key: there already means a duplicate, which is a no-op. */
  insertOnce(table: TableSpec, row: Row): void;
  /** Writes the whole row. With `expect` (the version the row must have now; 0 = absent) it is guarded like `insert`. */
  put(table: TableSpec, row: Row, expect?: number): void;
  remove(table: TableSpec, key: Row): void;
  /** Appends to the outbox log. Ids are derived from the input, the pattern and the position of the call. */
  emit<N extends EventName>(event: NewEvent<N>): void;
  startJob(job: NewJob): void;
  /** Removes a job that has not been dispatched; one that runs is aborted and its result is still an input. */
  abortJob(id: string): void;
  /** In a dispatch handler: the job is not started and its row goes. */
  dropJob(id: string): void;
  setTimer(timer: NewTimer): void;
  clearTimer(key: string, name: string): void;
  /** A command to this service's own mailbox, for another key. */
  send(command: NewCommand): void;
  /** The result of a command; the HTTP caller waits for it. A command without one is answered `{ok: true, value: null}`. */
  answer(result: CommandResult): void;
  /** The aggregate's new state for the cache; visible to later inputs of the batch, kept only if the batch commits. */
  setState<S>(store: StateStore<S>, key: string, state: S): void;
}

/**
 * One batch of inputs, decided together and committed by one statement. Handlers never see a transaction.
 * INVARIANT: `now` is the database's time for this batch; handlers use no other clock.
 */
export interface LaneBatch {
  readonly now: Date;
  readonly read: ReadHandle;
  /** Fills the cache for the keys it does not hold. */
  load<S>(store: StateStore<S>, keys: readonly string[]): Promise<void>;
  /** State as of this moment in the batch; undefined when the aggregate does not exist. Throws if `load` was not asked for the key. */
  state<S>(store: StateStore<S>, key: string): S | undefined;
  /**
   * A number that changes whenever a row of these tables may have: what was read of them under the same number is still true. Undefined: read anew, as
   * others may write them too, or as an earlier decision on these inputs went wrong. CAUTION: rows that are changed by hand, past the lane, go unseen.
   */
  mark(tables: readonly TableSpec[]): number | undefined;
  /** Decides one input. If `decide` throws, only this input is taken out: retried, held or parked by the error's disposition. */
  attempt(input: LaneInput, decide: (writes: WriteSet) => void): void;
  /** Takes one input out with an error found before `attempt`. */
  fail(input: LaneInput, error: unknown): void;
}

/** What a single-message handler gets: the batch, and the write set of its own input. */
export interface LaneContext extends Omit<LaneBatch, 'attempt' | 'fail' | 'mark'> {
  readonly writes: WriteSet;
}
