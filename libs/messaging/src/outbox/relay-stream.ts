import type { Topic } from '@lineclear/contracts';
import { Cursor } from '../bus/embedded/cursor.js';
import type { BusRecord, PublishedPosition } from '../bus/bus.js';

/** Memory that hand-overs of one stream may take while the broker is slow or away; the rest is read from the log later. */
const QUEUE_LIMIT_BYTES = 1 << 20;
/** Kafka takes at most about 1 MiB of one partition in a request. */
const SEND_LIMIT_BYTES = 900_000;

/** What the broker said when it took records: its offset of the first, and how many. */
export interface Ack {
  readonly topic: Topic;
  readonly partition: number;
  readonly baseOffset: bigint;
}

/**
 * One topic of one shard on its way to the broker. INVARIANT: records leave in the order of the log without a gap; a record counts as sent only
 * when the broker has acknowledged it and all before it.
 */
export class RelayStream {
  readonly topic: Topic;
  readonly partition: number;
  /** what is queued begins here; `cursor.next` is where it ends */
  #next: bigint;
  #cursor: Cursor;
  #queue: BusRecord[] = [];
  #queuedBytes = 0;
  #inFlight: readonly BusRecord[] = [];
  /** offset in the broker of the last record that it acknowledged */
  #brokerOffset: bigint | undefined;
  #cluster: bigint | undefined;
  isDirty = false;
  /** after failures of this stream alone: not before that time of the monotonic clock */
  retryAtMs = 0;
  failures = 0;

  constructor({ topic, partition, next, brokerOffset, cluster }: PublishedPosition) {
    this.topic = topic;
    this.partition = partition;
    this.#next = next;
    this.#cursor = new Cursor(topic, partition, next);
    this.#brokerOffset = brokerOffset;
    this.#cluster = cluster;
  }

  get position(): PublishedPosition {
    return {
      topic: this.topic,
      partition: this.partition,
      next: this.#next,
      ...(this.#brokerOffset === undefined ? {} : { brokerOffset: this.#brokerOffset }),
      ...(this.#cluster === undefined ? {} : { cluster: this.#cluster }),
    };
  }

  get cursor(): Cursor {
    return this.#cursor;
  }

  /** Its queue is empty and the log holds more. */
  get mustRead(): boolean {
    return this.#queue.length === 0 && this.#inFlight.length === 0 && this.#cursor.isBehind;
  }

  get hasQueued(): boolean {
    return this.#queue.length > 0;
  }

  /** A record committed just now: queued if it is the next one and there is room, else the log is read for it later. */
  offer(record: BusRecord): void {
    if (this.#queuedBytes > QUEUE_LIMIT_BYTES) this.#cursor.markUnread();
    if (this.#cursor.accept(record)) this.#push([record]);
  }

  /** What a read of the log found. @param isFull there may be more */
  read(cursor: Cursor, records: readonly BusRecord[], isFull: boolean): void {
    if (cursor !== this.#cursor) return;
    cursor.endRead(records, isFull);
    this.#push(records);
  }

  /** The records to send next, which stay in flight until `acked` or `failed`. */
  take(maxRecords: number): readonly BusRecord[] {
    let bytes = 0;
    let count = 0;
    for (const record of this.#queue) {
      bytes += bytesOf(record);
      if (count === maxRecords || (count > 0 && bytes > SEND_LIMIT_BYTES)) break;
      count += 1;
    }
    this.#inFlight = this.#queue.splice(0, count);
    for (const record of this.#inFlight) this.#queuedBytes -= bytesOf(record);
    return this.#inFlight;
  }

  /** @returns false when the broker's offset is not above what it gave before: its topic was emptied or made anew */
  acked(baseOffset: bigint, cluster: bigint): boolean {
    const isAbove = this.#brokerOffset === undefined || baseOffset > this.#brokerOffset;
    const last = this.#inFlight.at(-1);
    if (last !== undefined) this.#next = last.offset + 1n;
    this.#brokerOffset = baseOffset + BigInt(this.#inFlight.length) - 1n;
    this.#cluster = cluster;
    this.#inFlight = [];
    this.failures = 0;
    this.isDirty = true;
    return isAbove;
  }

  /** Whether these records may have reached the broker is not known: they are read from the log and sent again. */
  failed(): void {
    this.#restartAt(this.#next);
  }

  /** The broker has lost what was sent: all of the log that is left is sent again. */
  rewind(cluster: bigint): void {
    this.#brokerOffset = undefined;
    this.#cluster = cluster;
    this.isDirty = true;
    this.#restartAt(0n);
  }

  /** @returns whether it was sent to another cluster before */
  isOfOtherCluster(cluster: bigint): boolean {
    return this.#cluster !== undefined && this.#cluster !== cluster;
  }

  /** @returns whether the broker has acknowledged more than it has now. @param end the offset of its next record, if it is known */
  isPast(end: bigint | undefined): boolean {
    return end !== undefined && this.#brokerOffset !== undefined && end <= this.#brokerOffset;
  }

  #restartAt(next: bigint): void {
    this.#next = next;
    this.#cursor = new Cursor(this.topic, this.partition, next);
    this.#queue = [];
    this.#queuedBytes = 0;
    this.#inFlight = [];
  }

  #push(records: readonly BusRecord[]): void {
    this.#queue.push(...records);
    for (const record of records) this.#queuedBytes += bytesOf(record);
  }
}

/** Near enough for limits: characters of what dominates, and an allowance for headers. */
const bytesOf = ({ value }: BusRecord): number => (value?.length ?? 0) + 600;
