import { setTimeout as delay } from 'node:timers/promises';
import { type Topic, sha256Hex } from '@lineclear/contracts';
import type { Cursor } from '../bus/embedded/cursor.js';
import { READ_LIMIT } from '../bus/embedded/log-reader.js';
import type { BusRecord, BusSink } from '../bus/bus.js';
import { pauseMs, repeat } from '../bus/repeat.js';
import { Signal } from '../bus/signal.js';
import type { Log } from '../lane/log.js';
import { type Ack, RelayStream } from './relay-stream.js';

/** What a broker has of some topics. */
export interface BrokerView {
  /** id of the cluster: another one than before has none of what was sent */
  readonly cluster: string;
  readonly ends: readonly BrokerEnd[];
}

export interface BrokerEnd {
  readonly topic: Topic;
  readonly partition: number;
  /** the offset that the next record gets */
  readonly end: bigint;
}

/** The broker as the relay needs it. */
export interface LogPublisher {
  connect(): Promise<void>;
  /** @throws when a topic is missing, too */
  inspect(topics: readonly Topic[]): Promise<BrokerView>;
  /**
   * Sends records, in order per partition, in one request; resolves when all are stored. A rejection says nothing about what was stored, and
   * disconnects: `connect` must be called before the next `send`.
   */
  send(records: readonly BusRecord[]): Promise<readonly Ack[]>;
  close(): Promise<void>;
}

/** The outbox of the service. */
export interface OutboxLog {
  read(topic: Topic, cursors: readonly Cursor[]): Promise<ReadonlyMap<Cursor, readonly BusRecord[]>>;
}

export interface RelayOptions {
  readonly sink: Pick<BusSink, 'published' | 'publish'>;
  readonly outbox: OutboxLog;
  readonly publisher: LogPublisher;
  readonly log: Log;
}

const REQUEST_RECORDS = 500;
/** The position spares work after a restart, no more, so that it may lag. */
const PUBLISH_EVERY_MS = 200;
const IDLE_CHECK_MS = 1_000;
const STOP_LIMIT_MS = 2_000;
/** A broker that lost its data while nothing is sent is found out by looking. */
const INSPECT_EVERY_MS = 10_000;

/**
 * The reader of the outbox towards Kafka: sends what the lane commits, in order per topic and shard, at least once.
 * INVARIANT: one request at a time, so that no shard ever has two in flight; what is sent again after a failure comes from the log.
 */
export class Relay {
  readonly #streams = new Map<string, RelayStream>();
  /** streams of a request that failed: each is sent alone once, so that one that cannot be sent does not stop the others */
  readonly #alone = new Set<RelayStream>();
  readonly #changed = new Signal();
  readonly #stopping = new AbortController();
  #cluster: bigint | undefined;
  #inspectAtMs = 0;
  #stopByMs = Number.POSITIVE_INFINITY;
  #publishTimer: NodeJS.Timeout | undefined;
  #running: Promise<void> = Promise.resolve();

  constructor(private readonly options: RelayOptions) {}

  start(): void {
    this.#running = this.#run();
  }

  /** Begins with shards that the lane owns now. */
  assigned(shards: readonly number[]): void {
    for (const position of this.options.sink.published()) {
      if (!shards.includes(position.partition)) continue;
      const stream = new RelayStream(position);
      if (this.#cluster !== undefined && stream.isOfOtherCluster(this.#cluster)) stream.rewind(this.#cluster);
      this.#streams.set(keyOf(position), stream);
    }
    this.#changed.wake();
  }

  revoked(shards: readonly number[]): void {
    for (const [key, stream] of this.#streams) {
      if (!shards.includes(stream.partition)) continue;
      this.#streams.delete(key);
      this.#alone.delete(stream);
    }
  }

  /** Records that the lane has just committed. */
  appended(records: readonly BusRecord[]): void {
    for (const record of records) this.#streams.get(keyOf(record))?.offer(record);
    this.#changed.wake();
  }

  /** true while the broker takes what is sent */
  ready(): boolean {
    return this.#cluster !== undefined;
  }

  /** Sends what is left, for 2 s, and waits as long again for an answer; the rest is sent by the next owner. */
  async stop(): Promise<void> {
    this.#stopByMs = performance.now() + STOP_LIMIT_MS;
    this.#stopping.abort();
    this.#changed.wake();
    clearTimeout(this.#publishTimer);
    await Promise.race([this.#running, delay(2 * STOP_LIMIT_MS, undefined, { ref: false })]);
    await this.options.publisher.close();
  }

  async #run(): Promise<void> {
    while (this.#goesOn()) {
      if (this.#cluster === undefined) await this.#connect();
      else if (performance.now() >= this.#inspectAtMs) await this.#inspectAgain();
      else if (!(await this.#read()) || !(await this.#send(this.#cluster))) await this.#changed.wait(this.#idleMs());
    }
  }

  #goesOn(): boolean {
    if (!this.#stopping.signal.aborted) return true;
    const hasWork = [...this.#streams.values()].some(({ hasQueued, mustRead }) => hasQueued || mustRead);
    return hasWork && this.#cluster !== undefined && performance.now() < this.#stopByMs;
  }

  /** Until something can be sent again. */
  #idleMs(): number {
    const untilInspect = this.#inspectAtMs - performance.now();
    const waits = [...this.#streams.values()].flatMap(({ hasQueued, retryAtMs }) => (hasQueued ? [retryAtMs] : []));
    return Math.max(1, Math.min(IDLE_CHECK_MS, untilInspect, ...waits.map((atMs) => atMs - performance.now())));
  }

  async #connect(): Promise<void> {
    const { publisher, log } = this.options;
    const onError = (error: unknown) => log.warn({ error }, 'the broker cannot be used yet; events wait in the log');
    const connect = async () => {
      await publisher.connect();
      await this.#inspect();
    };
    await repeat(connect, { signal: this.#stopping.signal, onError });
  }

  async #inspectAgain(): Promise<void> {
    try {
      await this.#inspect();
    } catch (error) {
      this.#cluster = undefined;
      this.options.log.warn({ error }, 'the broker does not answer; connecting anew');
    }
  }

  /** Finds out whether the broker still has what was sent to it. */
  async #inspect(): Promise<void> {
    const topics = new Set([...this.#streams.values()].map(({ topic }) => topic));
    const view = await this.options.publisher.inspect([...topics]);
    const cluster = clusterMark(view.cluster);
    const ends = new Map(view.ends.map((end) => [keyOf(end), end.end]));
    const emptied = new Set<Topic>();
    for (const stream of this.#streams.values())
      if (stream.isOfOtherCluster(cluster) || stream.isPast(ends.get(keyOf(stream)))) emptied.add(stream.topic);
    this.#cluster = cluster;
    this.#inspectAtMs = performance.now() + INSPECT_EVERY_MS;
    this.#rewind(
      [...this.#streams.values()].filter(({ topic }) => emptied.has(topic)),
      cluster,
    );
  }

  /** Fills streams that are behind from the log. @returns false after a failure */
  async #read(): Promise<boolean> {
    const behind = [...this.#streams.values()].filter(({ mustRead }) => mustRead);
    for (const [topic, streams] of Map.groupBy(behind, (stream) => stream.topic)) {
      const cursors = new Map(streams.map((stream) => [stream.cursor, stream]));
      for (const cursor of cursors.keys()) cursor.beginRead();
      try {
        const found = await this.options.outbox.read(topic, [...cursors.keys()]);
        for (const [cursor, records] of found)
          cursors.get(cursor)?.read(cursor, records, records.length === READ_LIMIT);
      } catch (error) {
        for (const cursor of cursors.keys()) cursor.failRead();
        this.options.log.warn({ topic, error }, 'the outbox cannot be read; trying again');
        return false;
      }
    }
    return true;
  }

  /** @returns false when there is nothing to send now */
  async #send(cluster: bigint): Promise<boolean> {
    const streams: RelayStream[] = [];
    const records: BusRecord[] = [];
    for (const stream of this.#sendable()) {
      if (records.length >= REQUEST_RECORDS) break;
      streams.push(stream);
      records.push(...stream.take(REQUEST_RECORDS - records.length));
    }
    if (records.length === 0) return false;
    try {
      const acks = await this.options.publisher.send(records);
      this.#acked(streams, acks, cluster);
    } catch (error) {
      this.#failed(streams, error);
    }
    return true;
  }

  #sendable(): RelayStream[] {
    const nowMs = performance.now();
    const ready = [...this.#streams.values()].filter(({ hasQueued, retryAtMs }) => hasQueued && retryAtMs <= nowMs);
    const alone = ready.find((stream) => this.#alone.has(stream));
    if (alone !== undefined) return [alone];
    const [first, ...rest] = ready;
    return first === undefined ? [] : [...rest, first];
  }

  #acked(streams: readonly RelayStream[], acks: readonly Ack[], cluster: bigint): void {
    const offsets = new Map(acks.map((ack) => [keyOf(ack), ack.baseOffset]));
    const wiped = new Set<Topic>();
    for (const stream of streams) {
      this.#alone.delete(stream);
      const offset = offsets.get(keyOf(stream));
      if (offset === undefined) stream.failed();
      else if (!stream.acked(offset, cluster)) wiped.add(stream.topic);
    }
    this.#rewind(
      [...this.#streams.values()].filter(({ topic }) => wiped.has(topic)),
      cluster,
    );
    this.#schedulePublish();
  }

  #rewind(streams: readonly RelayStream[], cluster: bigint): void {
    if (streams.length === 0) return;
    const topics = [...new Set(streams.map(({ topic }) => topic))];
    this.options.log.warn({ topics }, 'the broker has lost what was sent; the log is sent again from its start');
    for (const stream of streams) stream.rewind(cluster);
    this.#schedulePublish();
  }

  #failed(streams: readonly RelayStream[], error: unknown): void {
    this.#cluster = undefined;
    this.options.log.warn({ streams: streams.length, error }, 'events were not sent; sending them again from the log');
    const [only] = streams;
    for (const stream of streams) {
      stream.failed();
      this.#alone.add(stream);
    }
    if (streams.length > 1 || only === undefined) return;
    this.#alone.delete(only);
    only.retryAtMs = performance.now() + pauseMs(only.failures, Math.random());
    only.failures += 1;
  }

  #schedulePublish(): void {
    if (this.#stopping.signal.aborted) return;
    this.#publishTimer ??= setTimeout(() => {
      this.#publishTimer = undefined;
      void this.#publish();
    }, PUBLISH_EVERY_MS);
  }

  /** A refusal means that shards are lost or that the database is away: the position is told again, by us or by the next owner. */
  async #publish(): Promise<void> {
    const dirty = [...this.#streams.values()].filter(({ isDirty }) => isDirty);
    for (const stream of dirty) stream.isDirty = false;
    if (dirty.length === 0) return;
    try {
      await this.options.sink.publish(dirty.map(({ position }) => position));
    } catch (error) {
      for (const stream of dirty) stream.isDirty = true;
      this.options.log.warn({ error }, 'what was sent is not noted yet');
      await delay(PUBLISH_EVERY_MS, undefined, { ref: false });
      this.#schedulePublish();
    }
  }
}

const keyOf = ({ topic, partition }: { readonly topic: Topic; readonly partition: number }): string =>
  `${topic}/${partition}`;

/** Clusters are only told apart: 48 bits, which a JSON number holds. CAUTION: persisted with the positions. */
const clusterMark = (id: string): bigint => BigInt(`0x${sha256Hex(id).slice(0, 12)}`);
