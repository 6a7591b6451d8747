import { randomUUID } from 'node:crypto';
import { type ServiceName, SHARD_COUNT, type Topic, TOPIC_PRODUCER, topicsReadBy } from '@lineclear/contracts';
import { ConfigError, toFailure } from '@lineclear/errors';
import type { DatabaseConfig } from '@lineclear/persistence';
import type { Bus, BusMembership, BusPosition, BusRecord, BusSink } from '../bus/bus.js';
import type { CommandSender } from '../mailbox/command-sender.js';
import { Mailbox } from '../mailbox/mailbox.js';
import { Retention } from '../outbox/retention.js';
import { applyCompletion } from './apply.js';
import { BatchRunner } from './batch-runner.js';
import type { Completion } from './complete.js';
import { LaneConnection } from './connection.js';
import { type LaneCounters, newCounters } from './counters.js';
import { DatabaseClock } from './database-clock.js';
import { Liveness } from './liveness.js';
import { type Log, SILENT } from './log.js';
import { LaneGroup } from './lane-group.js';
import { LaneMemory } from './memory.js';
import { PublishedPositions, publishedOf, readPositions } from './published-positions.js';
import { type Executor, type Handler, HandlerRegistry } from './registry.js';
import { Failures } from './settle.js';
import type { Shard } from './shard.js';
import { SidePool } from './side-pool.js';
import { loadShards, takeShards } from './takeover.js';
import { type BatchLimits, LaneTurns, readClock } from './turns.js';
import { Upkeep } from './upkeep.js';
import type { Work } from './work.js';

export interface LaneOptions {
  readonly service: ServiceName;
  readonly database: DatabaseConfig;
  readonly bus: Bus;
  readonly log?: Log;
  /** a batch ends at the first of these: default 25 ms of deciding, 256 inputs, 1 MiB; it begins `gatherMs` (default 0) after the one before */
  readonly batch?: Partial<BatchLimits>;
  /** states kept per store, default 10,000 */
  readonly cacheEntries?: number;
  /** how often the mailbox is looked at for rows of other processes; default 5 s on an exclusive bus, else 100 ms */
  readonly mailboxPollMs?: number;
  /** days that the log and the memory of inputs stay; default 14 and 28, and the second must outlive the first */
  readonly retention?: { readonly logDays?: number; readonly dedupeDays?: number };
  /** in [0, 1), for jitter */
  readonly random?: () => number;
  /** takes its turns with these, on a bus that is exclusive; default alone */
  readonly group?: LaneGroup;
  /** told when the membership of the bus cannot go on; the process should end */
  readonly failed?: (error: unknown) => void;
}

/** A handler that does not return cannot hold up a stop for longer; its batch is lost as in a crash. */
const LAST_BATCH_MS = 2_000;
/** Below this many queued bytes a bus that stopped reading is told to go on. */
const LOW_WATER_BYTES = 1 << 20;

/**
 * One service in one process over all shards that it owns: takes what is ready, lets the handlers decide, commits with one statement,
 * tells the world, and again. While one commit runs the next batch gathers by itself.
 */
export class Lane {
  readonly counters: LaneCounters = newCounters();
  /** This process start. */
  readonly owner = randomUUID();
  readonly commands: CommandSender;
  readonly #log: Log;
  readonly #pool: SidePool;
  readonly #mailbox: Mailbox;
  readonly #connection: LaneConnection;
  readonly #clock = new DatabaseClock();
  readonly #published = new PublishedPositions();
  readonly #liveness: Liveness;
  readonly #group: LaneGroup;
  #memory: LaneMemory | undefined;
  #upkeep: Upkeep | undefined;
  #membership: BusMembership | undefined;
  #turns: LaneTurns | undefined;
  #runner: BatchRunner | undefined;
  #fatal: unknown;
  #isEnded = false;
  #isKilled = false;
  #isThrottled = false;

  constructor(private readonly options: LaneOptions) {
    const { service, database, bus } = options;
    this.#log = options.log ?? SILENT;
    this.#group = options.group ?? new LaneGroup();
    this.#pool = new SidePool(database, `${service} side`);
    this.#connection = new LaneConnection(database, `${service} lane`);
    this.#mailbox = new Mailbox(this.#pool, (row) => this.#memory?.addMail(row));
    this.#liveness = new Liveness(this.#pool, this.owner, () => bus.isExclusive);
    this.commands = this.#mailbox;
  }

  /**
   * Joins the bus and runs until `stop`. Resolves when the shards that the bus gave at once are taken.
   * @throws ConfigError `wrong-shard-count`; InvariantViolationError for handlers that contradict each other; TransientError
   */
  async start(handlers: readonly Handler[], executors: readonly Executor[] = []): Promise<void> {
    const { service, bus } = this.options;
    const registry = new HandlerRegistry(handlers, executors);
    for (const name of registry.unhandled(service))
      this.#log.warn({ event: name }, 'an event of the contracts has no handler here and will be held');
    await this.#connection.connect();
    await this.#checkShardCount();
    this.#clock.sample(await readClock(this.#connection));
    const reader = { service, registry };
    const memory = new LaneMemory(this.owner, this.#clock, reader, () => this.#turns?.awake());
    this.#memory = memory;
    const upkeep = this.#newUpkeep(memory);
    this.#upkeep = upkeep;
    const runner = this.#newRunner(registry, memory);
    this.#runner = runner;
    if (bus.positions === 'lane') memory.onPassed = (shard) => runner.commits.passed(shard);
    this.#turns = this.#newTurns(memory, runner, upkeep);
    await this.#liveness.start();
    await upkeep.prepare();
    this.#membership = await bus.join({ service, topics: topicsReadBy(service), sink: this.#sink() });
    this.#turns.start();
  }

  /** Why the lane is not ready; empty when it is. */
  reasons(): string[] {
    if (this.#fatal !== undefined) return [`the bus failed: ${toFailure(this.#fatal).message}`];
    const reasons: string[] = [];
    if (this.#membership?.ready() !== true) reasons.push('shards are not assigned and read yet');
    if (this.#turns?.isPaused === true) reasons.push('more than half of the keys fail; the lane is paused');
    return reasons;
  }

  /** Counters with the moment's numbers filled in. */
  measure(): LaneCounters {
    const { counters } = this;
    const memory = this.#memory;
    if (memory !== undefined) {
      counters.jobsStarted = memory.jobs.started;
      counters.jobsRunningNow = memory.jobs.runningNow;
      counters.jobsQueuedNow = memory.jobs.queuedNow;
      counters.queuedInputsNow = memory.queue.size;
      counters.queuedBytesNow = memory.queue.bytes;
      counters.heldKeysNow = [...memory.shards.values()].reduce((sum, { held }) => sum + held.size, 0);
    }
    counters.pausedNow = this.#turns?.isPaused ?? false;
    return counters;
  }

  /**
   * Stops taking messages, waits up to `drainMs` (default 10 s) for open jobs and their results, aborts the rest, and lets go of the shards.
   * Jobs that are still open then follow their recovery rule.
   */
  async stop(options: { drainMs?: number } = {}): Promise<void> {
    if (this.#isEnded) return;
    this.#isEnded = true;
    const until = performance.now() + (options.drainMs ?? 10_000);
    this.#memory?.jobs.drain();
    await this.#membership?.pause();
    const isBusy = () =>
      this.#memory !== undefined &&
      (this.#memory.jobs.runningNow > 0 || this.#memory.queue.size > 0 || this.#turns?.isBusy === true);
    while (isBusy() && performance.now() < until && this.#fatal === undefined) await sleep(20);
    this.#memory?.jobs.abortAll('the process stops');
    this.#turns?.end();
    await this.#lastBatch(Math.max(LAST_BATCH_MS, until - performance.now()));
    await this.#membership?.stop();
    this.#mailbox.stop();
    await this.#liveness.stop().catch(() => undefined);
    await this.#connection.close();
    await this.#pool.end();
  }

  async #lastBatch(withinMs: number): Promise<void> {
    const late = Promise.withResolvers<void>();
    const timer = setTimeout(late.resolve, withinMs);
    await Promise.race([this.#turns?.ended(), late.promise]);
    clearTimeout(timer);
  }

  /** Ends at once, as a crash would: nothing is waited for and nothing is told. For tests. */
  async kill(): Promise<void> {
    this.#isEnded = true;
    this.#isKilled = true;
    this.#turns?.end();
    this.#memory?.drop([...this.#memory.shards.keys()]);
    await this.#connection.close();
    this.#memory?.jobs.abortAll('the process was killed');
    await this.#turns?.ended();
    this.#mailbox.stop();
    this.#liveness.abandon();
    await this.#pool.end();
  }

  #newRunner(registry: HandlerRegistry, memory: LaneMemory): BatchRunner {
    const { service, bus, cacheEntries = 10_000, random = Math.random } = this.options;
    const { counters } = this;
    return new BatchRunner({
      service,
      owner: this.owner,
      connection: this.#connection,
      clock: this.#clock,
      registry,
      jobs: memory.jobs,
      shards: memory.shards,
      counters,
      cacheEntries,
      failures: new Failures({ counters, log: this.#log, random }),
      keepsPositions: bus.positions === 'lane',
      isExclusive: bus.isExclusive,
      published: this.#published,
      kept: (shards) => this.#membership?.acknowledge(readPositions(shards)),
      alreadyAnswered: (works) => this.#forgetAnswered(works),
      committed: (completion) => this.#apply(completion),
      handOver: (records) => this.#handOver(records),
    });
  }

  #newUpkeep(memory: LaneMemory): Upkeep {
    const { bus, mailboxPollMs = bus.isExclusive ? 5_000 : 100 } = this.options;
    return new Upkeep({
      memory,
      connection: this.#connection,
      clock: this.#clock,
      mailbox: this.#mailbox,
      liveness: this.#liveness,
      log: this.#log,
      mailboxPollMs,
      pool: this.#pool,
      retention: this.#newRetention(),
    });
  }

  #newTurns(memory: LaneMemory, runner: BatchRunner, upkeep: Upkeep): LaneTurns {
    return new LaneTurns({
      memory,
      runner,
      upkeep,
      connection: this.#connection,
      clock: this.#clock,
      published: this.#published,
      counters: this.counters,
      log: this.#log,
      limits: { decideMs: 25, inputs: 256, bytes: 1 << 20, gatherMs: 0, ...this.options.batch },
      group: this.#group,
      topics: new Set(topicsReadBy(this.options.service)),
      membership: () => this.#membership,
      revoke: (ids) => this.#revoked(ids),
    });
  }

  #newRetention(): Retention {
    const { logDays = 14, dedupeDays = 28 } = this.options.retention ?? {};
    const readTo = (topic: Topic, partition: number) =>
      this.options.bus.positions === 'broker'
        ? publishedOf(this.#memory?.shards.values() ?? []).find(
            (at) => at.topic === topic && at.partition === partition,
          )?.next
        : this.#membership?.readTo?.(topic, partition);
    return new Retention({ pool: this.#pool, log: this.#log, logDays, dedupeDays, readTo });
  }

  #apply(completion: Completion): void {
    const memory = this.#memory;
    if (memory === undefined || this.#isKilled) return;
    this.#turns?.done(completion.works);
    const { counters } = this;
    applyCompletion(completion, { memory, mailbox: this.#mailbox, counters, membership: () => this.#membership });
  }

  #handOver(records: readonly BusRecord[]): void {
    const memory = this.#memory;
    if (memory === undefined || this.#isKilled) return;
    this.#membership?.appended(records);
    if (this.#isThrottled && memory.queue.bytes < LOW_WATER_BYTES) {
      this.#isThrottled = false;
      this.#membership?.drained();
    }
  }

  #forgetAnswered(works: ReadonlySet<Work>): void {
    this.#turns?.done(works);
    for (const work of works) {
      if (work.origin === 'mailbox' || work.origin === 'job') this.#memory?.knownMail.delete(work.mailbox?.id ?? '');
    }
  }

  #sink(): BusSink {
    return {
      assigned: (ids) => this.#assigned(ids),
      revoked: async (ids) => this.#revoked(ids),
      deliver: (records) => this.#deliver(records),
      failed: (error) => {
        this.#fatal = error;
        this.#log.error({ err: error }, 'the membership of the bus failed');
        this.options.failed?.(error);
      },
      published: () => publishedOf(this.#memory?.shards.values() ?? []),
      publish: (positions) => {
        const done = this.#published.set(positions, this.#memory?.shards ?? new Map<number, Shard>());
        this.#turns?.awake();
        return done;
      },
    };
  }

  async #assigned(ids: readonly number[]): Promise<readonly BusPosition[]> {
    const memory = this.#memory;
    if (memory === undefined) return [];
    const { service, bus } = this.options;
    const shards = await takeShards(this.#connection, this.owner, ids);
    this.#runner?.commits.marks.taken();
    await loadShards(this.#connection, shards, producedBy(service), new Date(memory.timersUntil));
    for (const shard of shards) memory.shards.set(shard.id, shard);
    await this.#upkeep?.adopt(shards);
    for (const shard of shards) shard.isOpen = true;
    const topics = topicsReadBy(service);
    if (bus.positions !== 'lane') {
      for (const shard of shards) for (const topic of topics) shard.positions.delete(topic);
      return [];
    }
    return shards.flatMap((shard) =>
      topics.map((topic) => ({ topic, partition: shard.id, next: shard.positions.get(topic) ?? 0n })),
    );
  }

  #revoked(ids: readonly number[]): void {
    for (const shard of this.#memory?.drop(ids) ?? []) this.#published.lost(shard);
  }

  #deliver(records: readonly BusRecord[]): number {
    const memory = this.#memory;
    if (memory === undefined) return 0;
    for (const record of records) memory.addRecord(record);
    if (memory.queue.bytes >= LOW_WATER_BYTES) this.#isThrottled = true;
    return memory.queue.bytes;
  }

  async #checkShardCount(): Promise<void> {
    const [row] = await this.#connection.query<{ count: number }>('SELECT count(*)::int AS count FROM shard');
    if (row?.count === SHARD_COUNT) return;
    const { schema, database } = this.options.database;
    throw new ConfigError(
      [
        {
          where: `${database}.${schema}`,
          what: 'the database was set up with another number of shards',
          seen: String(row?.count),
          expected: String(SHARD_COUNT),
          next: 'use the database of this installation, or reshard it',
        },
      ],
      { code: 'wrong-shard-count' },
    );
  }
}

/** Topics that a service writes. */
export function producedBy(service: ServiceName): Topic[] {
  return (Object.entries(TOPIC_PRODUCER) as [Topic, ServiceName][])
    .filter(([, producer]) => producer === service)
    .map(([topic]) => topic);
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => void setTimeout(resolve, ms));
}
