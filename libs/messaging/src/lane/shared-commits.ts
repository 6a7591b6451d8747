import { TransientError } from '@lineclear/errors';
import type { DatabaseConfig } from '@lineclear/persistence';
import type { BusRecord } from '../bus/bus.js';
import type { OpenBatch } from './batch-runner.js';
import type { Unsent } from './commits.js';
import type { Completion } from './complete.js';
import { LaneConnection } from './connection.js';
import { isRefusal, StatementCache } from './statement-cache.js';
import { type LaneTurns, ROUND_MS, type Taken } from './turns.js';
import type { Work } from './work.js';

/** Sixteen for each of the usual four services: their parts come in many combinations. */
const SHAPES = 64;

/** One lane's part of a round. */
class Share {
  readonly batch: OpenBatch;
  /** works that are to be decided next */
  next: Work[];
  /** works made of what others append in this round, before it is committed */
  foreseen: Work[] = [];
  /** records of the lane's own that its readers were told of */
  toldOf = 0;
  /** per topic and partition: records behind the lane's position that this round deals with */
  readonly #ahead = new Map<string, number>();
  /** per topic and partition: messages among the works of this round */
  readonly #messages = new Map<string, number>();
  #inputs = 0;
  #bytes = 0;

  constructor(
    readonly lane: LaneTurns,
    given: readonly Work[],
  ) {
    this.batch = lane.options.runner.open();
    this.next = [...given];
    for (const work of given) this.#add(work);
  }

  /** A batch of the lane takes no more. */
  get #isFull(): boolean {
    const { limits } = this.lane.options;
    return this.#inputs >= limits.inputs || this.#bytes >= limits.bytes;
  }

  #add(work: Work): void {
    this.#inputs += 1;
    this.#bytes += work.bytes;
    if (work.origin === 'bus') count(this.#messages, placeOf(work.record));
  }

  /** Takes a record that is appended by this round, when it is the very next that the lane would read. */
  offer(record: BusRecord): void {
    if (this.#isFull) return;
    const { membership, memory } = this.lane.options;
    const place = placeOf(record);
    if (membership()?.isNext?.(record, this.#ahead.get(place) ?? 0) !== true) return;
    const work = memory.foresee(record, this.#messages.get(place) ?? 0);
    if (work === undefined) return;
    count(this.#ahead, place);
    if (work === 'skip') return;
    this.#add(work);
    this.next.push(work);
    this.foreseen.push(work);
  }

  /** What was not decided comes again, by the bus. */
  leaveRest(): void {
    if (this.next.length === 0) return;
    const rest = new Set(this.next);
    this.lane.options.memory.settled(this.next);
    this.foreseen = this.foreseen.filter((work) => !rest.has(work));
    this.next = [];
  }

  /** Nothing of this round counts. */
  giveUp(): void {
    this.lane.options.memory.settled(this.foreseen);
  }
}

const placeOf = ({ topic, partition }: BusRecord): string => `${topic}/${partition}`;

function count(places: Map<string, number>, place: string): void {
  places.set(place, (places.get(place) ?? 0) + 1);
}

interface Settled {
  readonly share: Share;
  readonly completion: Completion;
  /** undefined: nothing to write */
  readonly statement: Unsent | undefined;
}

interface Session {
  readonly connection: LaneConnection;
  readonly statements: StatementCache;
}

/**
 * Commits the batches of several lanes over one database by one statement on a connection of its own, which may write all their schemas.
 * INVARIANT: it decides nothing about failures. When anything is out of the ordinary the round is given up before anything is committed, and each
 * lane does its own part by itself.
 */
export class SharedCommits {
  #session: Session | undefined;
  /** the lanes commit alone for a reason that was told */
  #isApart = false;

  /** @param database one that may write the schemas of all lanes of the group */
  constructor(private readonly database: DatabaseConfig) {}

  /** Lets go of the connection until the next round. */
  async close(): Promise<void> {
    const session = this.#session;
    this.#session = undefined;
    await session?.connection.close();
  }

  /** @returns false when nothing was done, and the lanes must go on by themselves. Never rejects. */
  async commit(round: readonly Taken[], lanes: readonly LaneTurns[]): Promise<boolean> {
    if (round.some(({ lane }) => lane.hasPublished)) return false;
    const shares = new Map(round.map(({ lane, works }) => [lane, new Share(lane, works)]));
    let settled: Settled[];
    let now: number | undefined;
    try {
      await this.#decide(shares, lanes);
      settled = await settle(shares.values());
      now = await this.#execute(settled);
    } catch (error) {
      return await this.#giveUp([...shares.values()], error);
    }
    try {
      this.#isApart &&= now === undefined;
      if (now !== undefined) for (const { options } of lanes) options.clock.sample(now);
      tell(settled, now);
    } catch (error) {
      await recover(shares.keys(), error);
    }
    return true;
  }

  /** @returns false when nothing can have been written */
  async #giveUp(shares: readonly Share[], error: unknown): Promise<boolean> {
    for (const share of shares) share.giveUp();
    if (error instanceof OutcomeUnknown) {
      await this.close();
      await recover(
        shares.map(({ lane }) => lane),
        error.cause,
      );
      return true;
    }
    const [first] = shares;
    if (!isUsual(error) && !this.#isApart)
      first?.lane.options.log.warn({ err: error }, 'a round could not be committed together; each lane commits alone');
    this.#isApart ||= !isUsual(error);
    return false;
  }

  /** Until nothing follows any more, or the round is full. @throws GivenUp */
  async #decide(shares: Map<LaneTurns, Share>, lanes: readonly LaneTurns[]): Promise<void> {
    const until = performance.now() + ROUND_MS;
    for (let isFirst = true, isMoving = true; isMoving && (isFirst || performance.now() < until); isFirst = false) {
      isMoving = false;
      for (const share of shares.values()) {
        const works = share.next.splice(0);
        if (works.length === 0) continue;
        isMoving = true;
        await share.lane.options.runner.decide(share.batch, works);
        const { infrastructure, failures } = share.batch.decision;
        if (infrastructure !== undefined || failures.size > 0) throw new GivenUp();
        handOver(share, shares, lanes);
      }
    }
    for (const share of shares.values()) share.leaveRest();
  }

  /** @returns the database's time then; undefined when there was nothing to write. @throws OutcomeUnknown; what the database refuses */
  async #execute(settled: readonly Settled[]): Promise<number | undefined> {
    const statements = settled.flatMap(({ statement }) => statement ?? []).sort(bySchema);
    if (statements.length === 0) return undefined;
    const session = await this.#open();
    const sentAt = performance.now();
    try {
      return await session.statements.execute(statements);
    } catch (error) {
      if (error instanceof TransientError) throw new OutcomeUnknown(error);
      throw error;
    } finally {
      const shareMs = (performance.now() - sentAt) / statements.length;
      for (const { share, statement } of settled)
        if (statement !== undefined) share.lane.options.counters.databaseMs += shareMs;
    }
  }

  /** The session, or a new one where it was lost meanwhile. @throws TransientError, ConfigError: nothing was sent */
  async #open(): Promise<Session> {
    if (this.#session?.connection.isOpen === true) return this.#session;
    await this.close();
    const connection = new LaneConnection(this.database, 'shared lane');
    await connection.connect();
    this.#session = { connection, statements: new StatementCache(connection, SHAPES) };
    return this.#session;
  }
}

/** So that equal shapes are found again. */
const bySchema = (a: Unsent, b: Unsent): number => (a.schema < b.schema ? -1 : 1);

async function settle(shares: Iterable<Share>): Promise<Settled[]> {
  const settled: Settled[] = [];
  for (const share of shares) {
    const { runner } = share.lane.options;
    const completion = await runner.settle(share.batch);
    settled.push({ share, completion, statement: runner.commits.prepare(completion.writes, completion.positions) });
  }
  return settled;
}

/** What follows from the commit: first everything that is true now, then who may read it. */
function tell(settled: readonly Settled[], now: number | undefined): void {
  let isFirst = true;
  for (const { share, completion, statement } of settled) {
    const { runner, counters } = share.lane.options;
    if (statement === undefined || now === undefined) runner.commits.unsent(completion.positions);
    else {
      runner.commits.written(statement, now);
      if (!isFirst) counters.commitsShared += 1;
      isFirst = false;
    }
    runner.committed(completion, share.batch.decideMs);
  }
  for (const { share } of settled) share.lane.options.memory.foreseen(share.foreseen);
  for (const { share, completion } of settled) share.lane.options.runner.handOver(completion);
  for (const { share } of settled) {
    share.lane.options.memory.foreseen([]);
    share.lane.succeeded();
  }
}

async function recover(lanes: Iterable<LaneTurns>, error: unknown): Promise<void> {
  for (const lane of lanes) await lane.recover(error);
}

/** Tells the readers in the group of what was appended since they were told last. */
function handOver(share: Share, shares: Map<LaneTurns, Share>, lanes: readonly LaneTurns[]): void {
  const { records } = share.batch.writes;
  for (; share.toldOf < records.length; share.toldOf += 1) {
    const record = records[share.toldOf];
    if (record === undefined) continue;
    for (const lane of lanes) {
      if (!lane.options.topics.has(record.topic) || !lane.isReady) continue;
      let reader = shares.get(lane);
      if (reader === undefined) shares.set(lane, (reader = new Share(lane, [])));
      reader.offer(record);
    }
  }
}

/** Something failed that only a lane by itself deals with. */
class GivenUp extends Error {}

/** What a lane alone meets too, and has a way with. */
function isUsual(error: unknown): boolean {
  return error instanceof GivenUp || isRefusal(error);
}

/** The connection was lost: the statement may have been committed, or may still be. */
class OutcomeUnknown extends Error {
  constructor(override readonly cause: TransientError) {
    super(cause.message);
  }
}
