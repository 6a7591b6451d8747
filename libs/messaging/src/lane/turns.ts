import type { Topic } from '@lineclear/contracts';
import { TransientError } from '@lineclear/errors';
import type { BusMembership } from '../bus/bus.js';
import { type BatchRunner, FencedError } from './batch-runner.js';
import type { LaneConnection } from './connection.js';
import type { LaneCounters } from './counters.js';
import type { DatabaseClock } from './database-clock.js';
import type { Log } from './log.js';
import type { LaneMemory } from './memory.js';
import type { PublishedPositions } from './published-positions.js';
import { Pause } from './settle.js';
import type { Upkeep } from './upkeep.js';
import type { Work } from './work.js';

const RETRY_MS = 200;
const LONGEST_RETRY_MS = 5_000;
const LONGEST_IDLE_MS = 1_000;

/** Milliseconds of deciding that one round takes in, over all lanes. */
export const ROUND_MS = 25;

export interface BatchLimits {
  /** milliseconds of deciding */
  readonly decideMs: number;
  readonly inputs: number;
  readonly bytes: number;
  /** a batch begins at least this long after the one before, unless it is full: for services that nobody waits for */
  readonly gatherMs: number;
}

/** Who gives lanes their turns. */
export interface TurnGiver {
  add(lane: LaneTurns): void;
  awake(): void;
}

/** Works of one lane in one round. */
export interface Taken {
  readonly lane: LaneTurns;
  readonly works: readonly Work[];
}

export interface TurnsOptions {
  readonly memory: LaneMemory;
  readonly runner: BatchRunner;
  readonly upkeep: Upkeep;
  readonly connection: LaneConnection;
  readonly clock: DatabaseClock;
  readonly published: PublishedPositions;
  readonly counters: LaneCounters;
  readonly log: Log;
  readonly limits: BatchLimits;
  /** has the lane take its turns */
  readonly group: TurnGiver;
  /** topics that the lane reads */
  readonly topics: ReadonlySet<Topic>;
  readonly membership: () => BusMembership | undefined;
  /** forgets shards */
  readonly revoke: (shards: readonly number[]) => void;
}

/** What one lane does in its turns: looks after itself, takes what is ready, has it decided and committed, and recovers from whatever stops that. */
export class LaneTurns {
  /** works of the batch that are not committed yet */
  readonly #batch = new Set<Work>();
  readonly #ended = Promise.withResolvers<void>();
  /** batches in a row that ended in trouble of the database, the broker or the lane itself */
  #failures = 0;
  #pausedUntil = 0;
  #beginsAt = 0;
  /** shards to be taken again over a new connection, from `#retryAt` on */
  #lost: readonly number[] | undefined;
  #retryAt = 0;
  #attempts = 0;
  #isStarted = false;
  #isStopping = false;

  constructor(readonly options: TurnsOptions) {}

  start(): void {
    this.#isStarted = true;
    this.options.group.add(this);
  }

  get isPaused(): boolean {
    return performance.now() < this.#pausedUntil;
  }

  /** Whether it can take part in a round. */
  get isReady(): boolean {
    return !this.#isStopping && !this.isPaused && this.#lost === undefined;
  }

  /** Whether works are in a round that is not over. */
  get isBusy(): boolean {
    return this.#batch.size > 0;
  }

  get isStopping(): boolean {
    return this.#isStopping;
  }

  /** There is something to do. While a batch gathers nobody needs to be woken. */
  awake(): void {
    if (this.#isStopping || this.#gatherMs === 0) this.options.group.awake();
  }

  /** These need not be put back any more. */
  done(works: Iterable<Work>): void {
    for (const work of works) this.#batch.delete(work);
  }

  /** From now on nothing new is taken. */
  end(): void {
    this.#isStopping = true;
    if (this.#isStarted) this.awake();
    else this.#ended.resolve();
  }

  /** Resolves when the last batch is over. */
  async ended(): Promise<void> {
    await this.#ended.promise;
  }

  /** After the last batch. A clean stop leaves nothing to be read again; a failing one only costs that. */
  async finish(): Promise<void> {
    try {
      await this.options.runner.keepPositions({ atOnce: true });
    } catch (error) {
      this.options.log.warn(
        { err: error },
        'positions could not be kept; messages that changed nothing are read again',
      );
    }
    this.#ended.resolve();
  }

  /** What comes before a batch. Never rejects. */
  async prepare(): Promise<void> {
    const { upkeep, memory } = this.options;
    if (this.isPaused) return;
    if (this.#lost !== undefined) return await this.#reconnect(this.#lost);
    try {
      await upkeep.run();
      memory.takeDue();
    } catch (error) {
      await this.recover(error);
    }
  }

  /** Takes a batch of about `decideMs` of deciding, if there is anything and it is time. */
  take(decideMs: number): readonly Work[] {
    const { memory, runner, limits } = this.options;
    if (this.#gatherMs > 0) return [];
    const inputs = Math.max(1, Math.min(limits.inputs, Math.floor(decideMs / runner.decideMsPerInput)));
    const works = memory.queue.take(inputs, limits.bytes);
    if (works.length > 0) this.#beginsAt = performance.now() + limits.gatherMs;
    for (const work of works) this.#batch.add(work);
    return works;
  }

  get hasPublished(): boolean {
    return !this.options.published.isEmpty;
  }

  /** Decides and commits a batch by itself. Never rejects. */
  async run(works: readonly Work[]): Promise<void> {
    try {
      await this.options.runner.run(works);
      this.succeeded();
    } catch (error) {
      await this.recover(error);
    }
  }

  /** The batch is over, and all is well. */
  succeeded(): void {
    this.#batch.clear();
    this.#failures = 0;
  }

  /** Without anything to do. Never rejects. */
  async keepPositions(): Promise<void> {
    try {
      await this.options.runner.keepPositions({ atOnce: false });
    } catch (error) {
      await this.recover(error);
    }
  }

  /** Milliseconds until there may be something to do that nobody wakes the lane for. */
  get idleMs(): number {
    const { memory, clock, upkeep } = this.options;
    const now = performance.now();
    if (this.isPaused) return Math.max(1, this.#pausedUntil - now);
    if (this.#lost !== undefined) return Math.max(1, this.#retryAt - now);
    const due = memory.nextDue;
    const wait = due === undefined ? LONGEST_IDLE_MS : due - clock.now();
    const gathered = this.#gatherMs > 0 ? this.#gatherMs : LONGEST_IDLE_MS;
    return Math.max(1, Math.min(LONGEST_IDLE_MS, wait, gathered, upkeep.nextAt - now));
  }

  /** Milliseconds until the next batch may begin. */
  get #gatherMs(): number {
    const { memory, limits } = this.options;
    const isFull = memory.queue.size >= limits.inputs || memory.queue.bytes >= limits.bytes;
    return isFull ? 0 : Math.max(0, this.#beginsAt - performance.now());
  }

  /** Never rejects: what it cannot mend it tries again. */
  async recover(error: unknown): Promise<void> {
    const { memory, counters, log } = this.options;
    const rest = [...this.#batch];
    this.#batch.clear();
    if (this.#isStopping) return;
    memory.putBack(rest);
    if (error instanceof Pause) {
      counters.pauses += 1;
      this.#pausedUntil = performance.now() + error.pauseMs;
      return;
    }
    if (error instanceof FencedError && (await this.#retake(error.shards))) return;
    if (!(error instanceof TransientError || error instanceof FencedError))
      log.error({ err: error }, 'the lane failed and starts over');
    const lost = error instanceof FencedError ? error.shards : [];
    this.#lost = [...new Set([...memory.shards.keys(), ...lost])];
    this.#attempts = 0;
    this.#retryAt = performance.now() + (this.#failures > 0 ? retryMs(this.#failures) : 0);
    this.#failures += 1;
    counters.reconnects += 1;
  }

  /** @returns false when the database failed meanwhile */
  async #retake(shards: readonly number[]): Promise<boolean> {
    const { log, revoke, membership } = this.options;
    log.warn({ shards }, 'shards have another owner');
    revoke(shards);
    try {
      await membership()?.retake(shards);
      return true;
    } catch (error) {
      log.warn({ err: error, shards }, 'shards could not be taken again');
      return false;
    }
  }

  /**
   * The outcome of the last statement is unknown: whatever it was, it is over once the shards are taken again. Tries once when it is time, so that the
   * other lanes of the group go on meanwhile.
   */
  async #reconnect(shards: readonly number[]): Promise<void> {
    const { connection, log, revoke, membership } = this.options;
    if (performance.now() < this.#retryAt) return;
    try {
      await connection.connect();
      await this.#sampleClock();
      revoke(shards);
      await membership()?.retake(shards);
      this.#lost = undefined;
    } catch (error) {
      log.warn({ err: error }, 'the database cannot be used; trying again');
      this.#retryAt = performance.now() + retryMs(this.#attempts);
      this.#attempts += 1;
    }
  }

  async #sampleClock(): Promise<void> {
    this.options.clock.sample(await readClock(this.options.connection));
  }
}

/** The database's time in milliseconds since the epoch. @throws TransientError */
export async function readClock(connection: LaneConnection): Promise<number> {
  const [row] = await connection.query<{ now: number }>(
    'SELECT (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS now',
  );
  return row?.now ?? Date.now();
}

function retryMs(attempt: number): number {
  return Math.min(LONGEST_RETRY_MS, RETRY_MS * 2 ** attempt);
}
