import type { ServiceName } from '@lineclear/contracts';
import { ConflictError, TransientError } from '@lineclear/errors';
import type { JobRunner } from '../jobs/job-runner.js';
import { BatchWrites } from './batch-writes.js';
import { ColumnCheck } from './column-check.js';
import { type Completion, completeWork, finishWork } from './complete.js';
import type { LaneConnection } from './connection.js';
import type { LaneCounters } from './counters.js';
import type { DatabaseClock } from './database-clock.js';
import { decideAll } from './decide.js';
import { Decision } from './decision.js';
import { isRepeatable } from './fragment.js';
import { LazyPositions } from './lazy-positions.js';
import { type Positions, positionsOf } from './positions.js';
import type { PublishedPositions } from './published-positions.js';
import type { HandlerRegistry } from './registry.js';
import { Failures } from './settle.js';
import type { Shard } from './shard.js';
import { StateCache } from './state-cache.js';
import { FENCED, GUARD } from './statement.js';
import { StatementCache } from './statement-cache.js';
import { fenceValues, StatementParts } from './statement-parts.js';
import { keyText } from './table-fold.js';
import type { Work } from './work.js';

/** How often an input that met a moved version is decided again at once. */
const REPETITIONS = 3;

const ANSWER = 'mailbox/answer';

/** The shard's positions are written as they are in memory. */
const UNMOVED: ReadonlyMap<string, bigint> = new Map();

interface GuardDetail {
  readonly section: string;
  readonly keys: readonly (readonly string[])[];
}

/** The statement was refused because these shards have another owner or epoch now. */
export class FencedError extends ConflictError {
  constructor(readonly shards: readonly number[]) {
    super('fenced', `shards ${shards.join(', ')} have another owner now`, { details: { shards } });
  }
}

export interface RunnerOptions {
  readonly service: ServiceName;
  readonly owner: string;
  readonly connection: LaneConnection;
  readonly clock: DatabaseClock;
  readonly registry: HandlerRegistry;
  readonly jobs: JobRunner;
  readonly shards: ReadonlyMap<number, Shard>;
  readonly counters: LaneCounters;
  readonly cacheEntries: number;
  readonly failures: Failures;
  /** positions are kept in the shard's row */
  readonly keepsPositions: boolean;
  readonly published: PublishedPositions;
  /** told of shards whose positions were written although no work of theirs was */
  kept(shards: readonly Shard[]): void;
  /** commands whose result is there already */
  alreadyAnswered(works: ReadonlySet<Work>): void;
  /** told of each commit, before the next is sent */
  committed(completion: Completion): void;
}

interface Run {
  readonly works: readonly Work[];
  /** works of the same batch that come in a later statement: positions do not pass them */
  readonly later: readonly Work[];
  readonly isReload: boolean;
  /** the work is not decided any more: it failed for good in this batch */
  readonly refused?: unknown;
}

/** Decides a batch and commits it with one statement; takes out what fails, and only that. */
export class BatchRunner {
  readonly #cache: StateCache;
  readonly #statements: StatementCache;
  readonly #parts: StatementParts;
  readonly #lazy = new LazyPositions();
  readonly #columns = new ColumnCheck();
  readonly #runsJobs = (kind: string): boolean => this.options.jobs.has(kind);
  /** milliseconds of deciding per input, smoothed */
  decideMsPerInput = 0.1;

  constructor(private readonly options: RunnerOptions) {
    this.#cache = new StateCache(options.cacheEntries);
    this.#statements = new StatementCache(options.connection);
    this.#parts = new StatementParts(options.connection.schema);
  }

  /** @throws FencedError, Pause, or TransientError when the outcome is unknown; what was committed until then was told to `committed` */
  async run(works: readonly Work[]): Promise<void> {
    await this.#run({ works, later: [], isReload: false });
  }

  /** The positions of a shard moved in memory, over messages that need nothing. */
  passed(shard: Shard): void {
    this.#lazy.add([shard]);
  }

  /** Writes positions that moved over messages which changed nothing, when it is time to. @throws FencedError, TransientError */
  async keepPositions({ atOnce }: { readonly atOnce: boolean }): Promise<void> {
    if (this.#lazy.isEmpty || !(atOnce || this.#lazy.isDue)) return;
    try {
      await this.#commit(this.#newWrites(this.options.clock.now()), new Map(), true);
    } catch (error) {
      throw fencedError(error) ?? error;
    }
  }

  async #run(run: Run): Promise<void> {
    const { works } = run;
    const { clock, counters } = this.options;
    const nowMs = clock.now();
    const startedAt = performance.now();
    const writes = this.#newWrites(nowMs);
    const decision = this.#newDecision(writes, nowMs, run.isReload);
    if (run.refused === undefined) await decideAll(works, decision, this.options);
    else for (const work of works) decision.refuse(work, run.refused);
    if (decision.infrastructure !== undefined) throw decision.infrastructure;
    const again = run.refused === undefined ? works.filter((work) => isRepeatable(decision.failures.get(work))) : [];
    if (again.length > 0) return await this.#isolate(run, new Set(again), decision.failures);
    const settled = await this.options.failures.settle(works, decision, writes);
    const decideMs = performance.now() - startedAt;
    counters.decideMs += decideMs;
    this.decideMsPerInput += (decideMs / Math.max(1, works.length) - this.decideMsPerInput) * 0.2;
    const pending = [...run.later, ...settled.notYet];
    const positions = positionsOf(works, pending);
    try {
      await this.#commit(writes, positions);
    } catch (error) {
      return await this.#afterFailure(run, writes, error);
    }
    counters.inputs += works.length - settled.notYet.length;
    decision.keepStates(this.#cache);
    writes.advanceHeads();
    this.options.committed({ works, decision, writes, positions, settled, startedAt, nowMs });
  }

  #newWrites(nowMs: number): BatchWrites {
    const { shards, owner, jobs } = this.options;
    return new BatchWrites(nowMs, { shards, owner, freeSlots: (kind) => jobs.freeSlots(kind) });
  }

  #newDecision(writes: BatchWrites, nowMs: number, isReload: boolean): Decision {
    const { service, owner, connection } = this.options;
    return new Decision({
      nowMs,
      read: connection,
      cache: this.#cache,
      writes,
      isReload,
      context: {
        service,
        owner,
        nowMs,
        time: new Date(nowMs).toISOString(),
        columns: this.#columns,
        runsJobs: this.#runsJobs,
      },
      complete: completeWork,
      finish: finishWork,
    });
  }

  /** Commits the rest, then the suspects and what else there is of their keys, each alone after a reload, in their order. */
  async #isolate(run: Run, suspects: ReadonlySet<Work>, failures?: ReadonlyMap<Work, unknown>): Promise<void> {
    const [first] = run.works;
    if (run.works.length === 1 && first !== undefined) {
      first.tries += 1;
      const error = failures?.get(first) ?? new ConflictError('version-moved', 'a row was changed in between');
      if (run.isReload && first.tries > REPETITIONS) return await this.#run({ ...run, refused: error });
      return await this.#run({ ...run, isReload: true });
    }
    const keys = new Set([...suspects].map(({ key }) => key));
    const alone = run.works.filter(({ key }) => keys.has(key));
    const rest = run.works.filter(({ key }) => !keys.has(key));
    if (rest.length > 0) await this.#run({ ...run, works: rest, later: [...run.later, ...alone] });
    for (const [index, work] of alone.entries())
      await this.#run({ works: [work], later: [...run.later, ...alone.slice(index + 1)], isReload: true });
  }

  async #afterFailure(run: Run, writes: BatchWrites, error: unknown): Promise<void> {
    const { counters } = this.options;
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    const fenced = fencedError(error);
    if (fenced !== undefined) {
      counters.fenced += 1;
      throw fenced;
    }
    if (error instanceof TransientError || isLogConflict(error)) throw error;
    if (code === GUARD) {
      counters.guardFailures += 1;
      const detail = JSON.parse(detailOf(error)) as GuardDetail;
      const suspects = this.#suspects(writes, detail);
      if (suspects.size > 0 && detail.section === ANSWER) return await this.#withoutAnswered(run, suspects);
      if (suspects.size > 0) return await this.#isolate(run, suspects);
    }
    await this.#bisect(run, error);
  }

  /** A command that two readers of the mailbox handed in is done once. */
  async #withoutAnswered(run: Run, answered: ReadonlySet<Work>): Promise<void> {
    this.options.alreadyAnswered(answered);
    await this.#run({ ...run, works: run.works.filter((work) => !answered.has(work)) });
  }

  #suspects(writes: BatchWrites, { section, keys }: GuardDetail): Set<Work> {
    const suspects = new Set<Work>();
    for (const [table, fold] of writes.folds) {
      if (!section.startsWith(`${table.name}/`)) continue;
      for (const key of keys) {
        const row = Object.fromEntries(table.key.map((column, index) => [column, key[index]]));
        for (const work of fold.ops.get(keyText(table, row))?.works ?? []) suspects.add(work);
      }
    }
    return suspects;
  }

  /** The database refuses something and does not say whose it is. */
  async #bisect(run: Run, error: unknown): Promise<void> {
    this.options.counters.bisections += 1;
    const { works, later } = run;
    if (works.length <= 1) {
      if (run.refused !== undefined) throw error;
      return await this.#run({ ...run, refused: error });
    }
    const middle = works.length >> 1;
    const second = works.slice(middle);
    await this.#run({ ...run, works: works.slice(0, middle), later: [...later, ...second] });
    await this.#run({ ...run, works: second });
  }

  /** Nothing to write is nothing to send; positions alone can wait. */
  async #commit(writes: BatchWrites, positions: Positions, withLazy = this.#lazy.isDue): Promise<void> {
    const { counters, clock, keepsPositions, shards } = this.options;
    const published = this.options.published.pending();
    const moved = new Map(keepsPositions ? positions : []);
    if (writes.touched.size === 0 && published.size === 0 && !withLazy) return this.#lazy.add(moved.keys());
    for (const shard of this.#lazy.owned(shards))
      if (!moved.has(shard) && (withLazy || writes.touched.has(shard) || published.has(shard)))
        moved.set(shard, UNMOVED);
    const touched = new Set([...writes.touched, ...moved.keys(), ...published.keys()]);
    if (touched.size === 0) return;
    const fence = fenceValues(touched, moved, published, keepsPositions);
    const { sections, values } = this.#parts.of(writes.folds.values());
    const sentAt = performance.now();
    try {
      const { now } = await this.#statements.execute(fence, sections, values);
      clock.sample(now);
      counters.commits += 1;
      counters.events += writes.records.length;
      this.options.published.committed(published);
      if (!this.#lazy.isEmpty) this.options.kept([...touched].filter((shard) => this.#lazy.has(shard)));
      this.#lazy.written(touched);
    } finally {
      counters.databaseMs += performance.now() - sentAt;
    }
  }
}

function fencedError(error: unknown): FencedError | undefined {
  const isFenced = error instanceof Error && 'code' in error && error.code === FENCED;
  return isFenced ? new FencedError(JSON.parse(detailOf(error)) as number[]) : undefined;
}

/** Somebody else wrote to our log, so that our heads are wrong: only taking the shards anew helps. */
function isLogConflict(error: unknown): boolean {
  if (!(error instanceof Error) || !('code' in error) || error.code !== '23505') return false;
  return 'table' in error && typeof error.table === 'string' && error.table.startsWith('outbox');
}

function detailOf(error: unknown): string {
  return error instanceof Error && 'detail' in error && typeof error.detail === 'string' ? error.detail : '[]';
}
