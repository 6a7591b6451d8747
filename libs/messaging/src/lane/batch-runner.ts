import type { ServiceName } from '@lineclear/contracts';
import { ConflictError, TransientError } from '@lineclear/errors';
import type { BusRecord } from '../bus/bus.js';
import type { JobRunner } from '../jobs/job-runner.js';
import { BatchWrites } from './batch-writes.js';
import { ColumnCheck } from './column-check.js';
import { type Completion, completeWork, finishWork } from './complete.js';
import { decideAll } from './decide.js';
import { Decision } from './decision.js';
import { isRepeatable } from './fragment.js';
import { type CommitOptions, Commits } from './commits.js';
import { positionsOf } from './positions.js';
import type { HandlerRegistry } from './registry.js';
import { Failures } from './settle.js';
import { StateCache } from './state-cache.js';
import { FENCED, GUARD } from './statement.js';
import { keyText } from './table-fold.js';
import type { Work } from './work.js';

/** How often an input that met a moved version is decided again at once. */
const REPETITIONS = 3;

const ANSWER = 'mailbox/answer';

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

export interface RunnerOptions extends CommitOptions {
  readonly service: ServiceName;
  readonly owner: string;
  readonly registry: HandlerRegistry;
  readonly jobs: JobRunner;
  readonly cacheEntries: number;
  readonly failures: Failures;
  /** this process is the only one that writes the service's tables */
  readonly isExclusive: boolean;
  /** commands whose result is there already */
  alreadyAnswered(works: ReadonlySet<Work>): void;
  /** told of each commit, before the next is sent */
  committed(completion: Completion): void;
  /** records that were committed: from now on they may be read */
  handOver(records: readonly BusRecord[]): void;
}

interface Run {
  readonly works: readonly Work[];
  /** works of the same batch that come in a later statement: positions do not pass them */
  readonly later: readonly Work[];
  readonly isReload: boolean;
  /** the work is not decided any more: it failed for good in this batch */
  readonly refused?: unknown;
}

/** A batch while it is decided: it may grow until it is committed or given up. */
export interface OpenBatch {
  readonly works: Work[];
  readonly writes: BatchWrites;
  readonly decision: Decision;
  /** the database's time, milliseconds since the epoch */
  readonly nowMs: number;
  /** monotonic */
  readonly startedAt: number;
  decideMs: number;
}

/** Decides a batch and commits it with one statement; takes out what fails, and only that. */
export class BatchRunner {
  readonly commits: Commits;
  readonly #cache: StateCache;
  readonly #columns = new ColumnCheck();
  readonly #runsJobs = (kind: string): boolean => this.options.jobs.has(kind);
  /** milliseconds of deciding per input, smoothed */
  decideMsPerInput = 0.1;

  constructor(private readonly options: RunnerOptions) {
    this.#cache = new StateCache(options.cacheEntries);
    this.commits = new Commits(options);
  }

  /** @throws FencedError, Pause, or TransientError when the outcome is unknown; what was committed until then was told to `committed` */
  async run(works: readonly Work[]): Promise<void> {
    await this.#run({ works, later: [], isReload: false });
  }

  /** Writes positions that moved over messages which changed nothing, when it is time to. @throws FencedError, TransientError */
  async keepPositions(when: { readonly atOnce: boolean }): Promise<void> {
    if (!this.commits.mustKeep(when)) return;
    try {
      const statement = this.commits.prepare(this.#newWrites(this.options.clock.now()), new Map(), true);
      if (statement !== undefined) await this.commits.send(statement);
    } catch (error) {
      throw fencedError(error) ?? error;
    }
  }

  open(isReload = false): OpenBatch {
    const nowMs = this.options.clock.now();
    const writes = this.#newWrites(nowMs);
    const decision = this.#newDecision(writes, nowMs, isReload);
    return { works: [], writes, decision, nowMs, startedAt: performance.now(), decideMs: 0 };
  }

  /** Takes works into the batch and has them decided. */
  async decide(batch: OpenBatch, works: readonly Work[]): Promise<void> {
    const startedAt = performance.now();
    batch.works.push(...works);
    await decideAll(works, batch.decision, this.options);
    batch.decideMs += performance.now() - startedAt;
  }

  /** What follows from the batch once it is committed; failures are written into it. @throws Pause */
  async settle(batch: OpenBatch, later: readonly Work[] = []): Promise<Completion> {
    const { works, writes, decision, startedAt, nowMs } = batch;
    const settled = await this.options.failures.settle(works, decision, writes);
    const positions = positionsOf(works, [...later, ...settled.notYet]);
    return { works, decision, writes, positions, settled, startedAt, nowMs };
  }

  /** The batch was committed, or needed no statement. */
  committed(completion: Completion, decideMs: number): void {
    const { works, decision, writes, settled } = completion;
    const { counters } = this.options;
    counters.decideMs += decideMs;
    if (works.length > 0) this.decideMsPerInput += (decideMs / works.length - this.decideMsPerInput) * 0.2;
    counters.inputs += works.length - settled.notYet.length;
    decision.keepStates(this.#cache);
    writes.advanceHeads();
    this.options.committed(completion);
  }

  /** What the batch appended may be read from now on. */
  handOver({ writes }: Completion): void {
    this.options.handOver(writes.records);
  }

  async #run(run: Run): Promise<void> {
    const { works } = run;
    const batch = this.open(run.isReload);
    const { decision, writes } = batch;
    if (run.refused === undefined) await this.decide(batch, works);
    else {
      batch.works.push(...works);
      for (const work of works) decision.refuse(work, run.refused);
    }
    if (decision.infrastructure !== undefined) throw decision.infrastructure;
    const again = run.refused === undefined ? works.filter((work) => isRepeatable(decision.failures.get(work))) : [];
    if (again.length > 0) return await this.#isolate(run, new Set(again), decision.failures);
    const completion = await this.settle(batch, run.later);
    try {
      const statement = this.commits.prepare(writes, completion.positions);
      if (statement === undefined) this.commits.unsent(completion.positions);
      else await this.commits.send(statement);
    } catch (error) {
      return await this.#afterFailure(run, writes, error);
    }
    this.committed(completion, batch.decideMs);
    this.handOver(completion);
  }

  #newWrites(nowMs: number): BatchWrites {
    const { shards, owner, jobs } = this.options;
    return new BatchWrites(nowMs, { shards, owner, freeSlots: (kind) => jobs.freeSlots(kind) });
  }

  #newDecision(writes: BatchWrites, nowMs: number, isReload: boolean): Decision {
    const { service, owner, connection, isExclusive } = this.options;
    return new Decision({
      nowMs,
      read: connection,
      cache: this.#cache,
      writes,
      isReload,
      marks: isExclusive ? this.commits.marks : undefined,
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
