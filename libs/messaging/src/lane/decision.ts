import { eventType } from '@lineclear/contracts';
import { InvariantViolationError, TransientError } from '@lineclear/errors';
import { HELD_TABLE, JOB_TABLE, TIMER_TABLE } from '../tables/lane-tables.js';
import { timerKey } from '../timers/timer-queue.js';
import type { LaneBatch, LaneContext, ReadHandle, StateStore, WriteSet } from './batch.js';
import type { BatchWrites } from './batch-writes.js';
import { Fragment, type FragmentContext } from './fragment.js';
import type { LaneInput } from './input.js';
import type { Shard } from './shard.js';
import type { StateCache } from './state-cache.js';
import type { TableSpec } from './table.js';
import type { TableMarks } from './table-marks.js';
import type { Work } from './work.js';

type Store = StateStore<unknown>;

export const STOP_STARTED = eventType('run.stop-started');

interface Loaded {
  state: unknown;
  /** the one shard whose inputs used it; null: several did, so it is not kept */
  user: Shard | null | undefined;
  /** the cache does not have it like this */
  readonly isNew: boolean;
}

export interface DecisionOptions {
  readonly nowMs: number;
  readonly read: ReadHandle;
  readonly cache: StateCache;
  readonly writes: BatchWrites;
  readonly context: FragmentContext;
  /** true: states are loaded anew, whatever the cache holds */
  readonly isReload: boolean;
  /** undefined where others may write the same tables */
  readonly marks: TableMarks | undefined;
  /** adds what the lane itself writes when the work is done, before the handler's own writes */
  readonly complete: (work: Work, fragment: Fragment) => void;
  /** the same after the handler's own writes */
  readonly finish: (fragment: Fragment) => void;
}

/** Database or broker trouble: it says nothing about the input, so it never counts against it. */
export function isInfrastructure(error: unknown): error is TransientError {
  return (
    error instanceof TransientError && (error.code === 'database-unavailable' || error.code === 'broker-unavailable')
  );
}

/** One batch while its handlers run: states as of each moment, and what became of each work. */
export class Decision implements LaneBatch {
  readonly now: Date;
  readonly read: ReadHandle;
  readonly failures = new Map<Work, unknown>();
  /** bus and held works that wait behind a failed or held one of their key */
  readonly behind: Work[] = [];
  /** works that need nothing, or that an earlier one of the batch has taken back */
  readonly stale: Work[] = [];
  /** of the works that are done, in their order */
  readonly fragments: Fragment[] = [];
  infrastructure: TransientError | undefined;
  readonly #settled = new Set<Work>();
  readonly #failedKeys = new Set<string>();
  readonly #works = new Map<LaneInput, Work>();
  readonly #loaded = new Map<Store, Map<string, Loaded>>();
  #current: Fragment | undefined;

  constructor(private readonly options: DecisionOptions) {
    this.now = new Date(options.nowMs);
    this.read = options.read;
  }

  expect(work: Work & { readonly input: LaneInput }): void {
    this.#works.set(work.input, work);
  }

  async load<S>(store: StateStore<S>, keys: readonly string[]): Promise<void> {
    const { cache, isReload, read } = this.options;
    const loaded = this.#loadedOf(store as Store);
    const missing = new Set<string>();
    for (const key of keys) {
      if (loaded.has(key)) continue;
      const entry = isReload ? undefined : cache.get(store as Store, key);
      if (entry === undefined) missing.add(key);
      else loaded.set(key, { state: entry.state, user: entry.owner as Shard, isNew: false });
    }
    if (missing.size === 0) return;
    const found = await store.load([...missing], read);
    for (const key of missing) loaded.set(key, { state: found.get(key), user: undefined, isNew: true });
  }

  mark(tables: readonly TableSpec[]): number | undefined {
    const { isReload, marks } = this.options;
    return isReload ? undefined : marks?.of(tables);
  }

  state<S>(store: StateStore<S>, key: string): S | undefined {
    return this.#state(store as Store, key, this.#current) as S | undefined;
  }

  attempt(input: LaneInput, decide: (writes: WriteSet) => void): void {
    const fragment = this.#begin(input);
    if (fragment === undefined) return;
    this.#current = fragment;
    try {
      const returned: unknown = decide(fragment);
      if (returned instanceof Promise)
        throw new InvariantViolationError('invariant-violated', 'a decision given to `attempt` must not be async');
      this.#end(fragment);
    } catch (error) {
      this.#refuse(fragment.work, error);
    } finally {
      this.#current = undefined;
    }
  }

  fail(input: LaneInput, error: unknown): void {
    const work = this.#workOf(input);
    if (!this.isSettled(work)) this.#refuse(work, error);
  }

  /** A single-message handler's run: its writes count when it resolves. */
  async single(input: LaneInput, handle: (context: LaneContext) => Promise<void> | void): Promise<void> {
    const fragment = this.#begin(input);
    if (fragment === undefined) return;
    const { now, read } = this;
    const load = <S>(store: StateStore<S>, keys: readonly string[]) => this.load(store, keys);
    const state = <S>(store: StateStore<S>, key: string) => this.#state(store as Store, key, fragment) as S | undefined;
    try {
      await handle({ now, read, load, state, writes: fragment });
      this.#end(fragment);
    } catch (error) {
      this.#refuse(fragment.work, error);
    }
  }

  /** Settles a message that was handled before; one that was held leaves the table. */
  settleSeen(work: Work): void {
    if (work.origin !== 'held') return this.skip(work);
    const fragment = new Fragment(work, this.options.context);
    fragment.write(HELD_TABLE, 'remove', { key: work.row.key, n: work.row.n });
    this.#end(fragment);
  }

  isSettled(work: Work): boolean {
    return this.#settled.has(work);
  }

  hasFailed(key: string): boolean {
    return this.#failedKeys.has(key);
  }

  /** Takes a work out that no handler saw, such as one that needs no decision. */
  skip(work: Work): void {
    this.#settled.add(work);
    this.stale.push(work);
  }

  /** Lets a message wait behind an earlier one of its key. */
  wait(work: Work): void {
    this.#settled.add(work);
    this.behind.push(work);
  }

  refuse(work: Work, error: unknown): void {
    this.#refuse(work, error);
  }

  /** Settles a work that no handler decides. */
  settleAlone(work: Work, write: (fragment: Fragment) => void): void {
    const fragment = this.#beginWork(work);
    if (fragment === undefined) return;
    try {
      write(fragment);
      this.#end(fragment);
    } catch (error) {
      this.#refuse(work, error);
    }
  }

  /** The states to keep once the batch is committed. */
  keepStates(cache: StateCache): void {
    for (const [store, loaded] of this.#loaded)
      for (const [key, { state, user, isNew }] of loaded) {
        if (!isNew && user !== null) continue;
        if (state === undefined || user === undefined || user === null || user.isLost) cache.forget(store, key);
        else cache.set(store, key, { state, owner: user });
      }
  }

  #begin(input: LaneInput): Fragment | undefined {
    return this.#beginWork(this.#workOf(input));
  }

  #beginWork(work: Work): Fragment | undefined {
    if (this.isSettled(work)) return undefined;
    if (this.#isStale(work)) {
      this.skip(work);
      return undefined;
    }
    if (this.#failedKeys.size > 0 && this.#failedKeys.has(work.key) && waitsInOrder(work)) {
      this.wait(work);
      return undefined;
    }
    const fragment = new Fragment(work, this.options.context);
    this.options.complete(work, fragment);
    return fragment;
  }

  #end(fragment: Fragment): void {
    this.options.finish(fragment);
    this.options.writes.merge(fragment);
    this.#settled.add(fragment.work);
    this.fragments.push(fragment);
    for (const [store, states] of fragment.states) {
      const loaded = this.#loadedOf(store);
      for (const [key, state] of states) {
        const before = loaded.get(key);
        loaded.set(key, { state, user: userOf(before?.user, fragment.work.shard), isNew: true });
      }
    }
  }

  #refuse(work: Work, error: unknown): void {
    if (isInfrastructure(error)) this.infrastructure ??= error;
    this.#settled.add(work);
    this.failures.set(work, error);
    if (work.origin === 'bus' || work.origin === 'held') this.#failedKeys.add(work.key);
  }

  /** An earlier input of the batch may have taken back the timer or job that this one is about. */
  #isStale(work: Work): boolean {
    const { writes } = this.options;
    if (work.origin === 'timer') return writes.has(TIMER_TABLE, timerKey(work.entry.key, work.entry.name));
    if (work.origin === 'job') return writes.has(JOB_TABLE, work.job);
    return work.origin === 'dispatch' && writes.has(JOB_TABLE, work.row.id);
  }

  #state(store: Store, key: string, fragment: Fragment | undefined): unknown {
    const own = fragment?.states.get(store);
    if (own?.has(key)) return own.get(key);
    const loaded = this.#loadedOf(store).get(key);
    if (loaded === undefined)
      throw new InvariantViolationError(
        'invariant-violated',
        `state \`${key}\` of store \`${store.name}\` was not loaded; call \`load\` for it first`,
      );
    if (fragment !== undefined) loaded.user = userOf(loaded.user, fragment.work.shard);
    return loaded.state;
  }

  #workOf(input: LaneInput): Work {
    const work = this.#works.get(input);
    if (work !== undefined) return work;
    throw new InvariantViolationError('invariant-violated', `input \`${input.id}\` is not of this batch`);
  }

  #loadedOf(store: Store): Map<string, Loaded> {
    let loaded = this.#loaded.get(store);
    if (loaded === undefined) this.#loaded.set(store, (loaded = new Map()));
    return loaded;
  }
}

/** Timers, commands, job results and run.stop-started go on although a message of their key failed. */
export function waitsInOrder(work: Work): boolean {
  if (work.origin === 'held') return true;
  return work.origin === 'bus' && work.type !== STOP_STARTED;
}

function userOf(user: Shard | null | undefined, shard: Shard): Shard | null {
  return user === undefined || user === shard ? shard : null;
}
