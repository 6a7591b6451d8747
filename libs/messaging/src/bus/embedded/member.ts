import type { ServiceName, Topic } from '@lineclear/contracts';
import { TOPIC_PRODUCER } from '@lineclear/contracts';
import type { Log } from '../../lane/log.js';
import type { BusMembership, BusPosition, BusRecord, JoinOptions } from '../bus.js';
import { Cursor } from './cursor.js';
import { type LogReader, READ_LIMIT } from './log-reader.js';

/** With more than this queued by the lane, records stay in the table until it asks for them. */
const HIGH_WATER_BYTES = 8 << 20;
const RETRY_MS = 100;

export interface MemberContext {
  readonly reader: LogReader;
  readonly log: Log;
  /** undefined: nobody writes that topic here */
  schemaOf(topic: Topic): string | undefined;
  handOver(records: readonly BusRecord[]): void;
  /** the log of that service may have grown without a hand-over */
  grew(service: ServiceName): void;
  readTo(topic: Topic, partition: number): bigint | undefined;
  left(member: Member): void;
}

/** One service on the embedded bus: its cursors, and the loop that reads the table for those that are behind. */
export class Member implements BusMembership {
  readonly #cursors = new Map<Topic, Map<number, Cursor>>();
  #reading: Promise<void> | undefined;
  #isThrottled = false;
  #isPaused = false;
  #isStopped = false;
  #hasCaughtUp = false;

  constructor(
    private readonly options: JoinOptions,
    private readonly context: MemberContext,
  ) {
    for (const topic of options.topics) if (context.schemaOf(topic) !== undefined) this.#cursors.set(topic, new Map());
  }

  /** Gives shards to the lane and reads from its positions. @throws what the lane throws */
  async assign(shards: readonly number[]): Promise<void> {
    const positions = await this.options.sink.assigned(shards);
    for (const { topic, partition, next } of positions)
      this.#cursors.get(topic)?.set(partition, new Cursor(topic, partition, next));
    this.#read();
  }

  reads(topic: Topic): boolean {
    return this.#cursors.has(topic);
  }

  /** Records of a topic, right after their commit. */
  offer(topic: Topic, records: readonly BusRecord[]): void {
    const cursors = this.#cursors.get(topic);
    if (this.#isStopped || this.#isPaused || cursors === undefined) return;
    const accepted: BusRecord[] = [];
    let isBehind = false;
    for (const record of records) {
      const cursor = cursors.get(record.partition);
      if (cursor === undefined) continue;
      if (this.#isThrottled) cursor.markUnread();
      if (cursor.accept(record)) accepted.push(record);
      else isBehind = true;
    }
    this.#deliver(accepted);
    if (isBehind) this.#read();
  }

  isNext(record: BusRecord, ahead: number): boolean {
    if (this.#isStopped || this.#isPaused || this.#isThrottled) return false;
    return this.#cursors.get(record.topic)?.get(record.partition)?.isNext(record, ahead) ?? false;
  }

  /** What that service wrote may not have been handed over. */
  markUnread(service: ServiceName): void {
    for (const [topic, cursors] of this.#cursors) {
      if (topic !== 'tasks' && TOPIC_PRODUCER[topic] !== service) continue;
      for (const cursor of cursors.values()) cursor.markUnread();
    }
    this.#read();
  }

  get service(): ServiceName {
    return this.options.service;
  }

  /** Positions are in the lane's statement already; what they allow is to forget. */
  acknowledge(positions: readonly BusPosition[]): void {
    for (const { topic, partition, next } of positions) {
      const cursor = this.#cursors.get(topic)?.get(partition);
      if (cursor !== undefined) cursor.acknowledged = next;
    }
  }

  acknowledgedTo(topic: Topic, partition: number): bigint | undefined {
    return this.#cursors.get(topic)?.get(partition)?.acknowledged;
  }

  readTo(topic: Topic, partition: number): bigint | undefined {
    return this.context.readTo(topic, partition);
  }

  appended(records: readonly BusRecord[]): void {
    if (records.length > 0) this.context.handOver(records);
  }

  ready(): boolean {
    return this.#hasCaughtUp && !this.#isStopped;
  }

  async retake(shards: readonly number[]): Promise<void> {
    if (this.#isStopped) return;
    // INVARIANT: nothing is delivered for a shard between its loss and its positions: a record ahead of them would move them past what is not done
    for (const cursors of this.#cursors.values()) for (const shard of shards) cursors.delete(shard);
    await this.options.sink.revoked(shards);
    await this.assign(shards);
    this.context.grew(this.options.service);
  }

  drained(): void {
    this.#isThrottled = false;
    this.#read();
  }

  async pause(): Promise<void> {
    this.#isPaused = true;
    await this.#reading;
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    this.context.left(this);
    await this.#reading;
  }

  failed(error: unknown): void {
    this.options.sink.failed(error);
  }

  #deliver(records: readonly BusRecord[]): void {
    if (records.length === 0) return;
    if (this.options.sink.deliver(records) > HIGH_WATER_BYTES) this.#isThrottled = true;
  }

  #read(): void {
    this.#reading ??= this.#catchUp().finally(() => {
      this.#reading = undefined;
      if (this.#mayRead() && this.#behind().length > 0) this.#read();
    });
  }

  #mayRead(): boolean {
    return !this.#isStopped && !this.#isPaused && !this.#isThrottled;
  }

  #behind(): Cursor[] {
    return [...this.#cursors.values()].flatMap((cursors) => [...cursors.values()].filter(({ isBehind }) => isBehind));
  }

  async #catchUp(): Promise<void> {
    for (let failures = 0; this.#mayRead(); ) {
      const behind = this.#behind();
      if (behind.length === 0) {
        this.#hasCaughtUp = true;
        return;
      }
      try {
        for (const [topic, cursors] of Map.groupBy(behind, ({ topic }) => topic)) await this.#readTopic(topic, cursors);
        failures = 0;
      } catch (error) {
        for (const cursor of behind) cursor.failRead();
        this.context.log.warn({ err: error, service: this.options.service }, 'the log cannot be read; trying again');
        await new Promise((resolve) => void setTimeout(resolve, Math.min(2_000, RETRY_MS * 2 ** failures)));
        failures += 1;
      }
    }
  }

  async #readTopic(topic: Topic, cursors: readonly Cursor[]): Promise<void> {
    const schema = this.context.schemaOf(topic);
    if (schema === undefined) return;
    for (const cursor of cursors) cursor.beginRead();
    const read = await this.context.reader.read(schema, topic, cursors);
    for (const [cursor, records] of read) {
      if (this.#cursors.get(topic)?.get(cursor.partition) !== cursor || this.#isStopped) continue;
      cursor.endRead(records, records.length === READ_LIMIT);
      this.#deliver(records);
    }
  }
}
