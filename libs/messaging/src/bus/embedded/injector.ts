import type { Bus, BusMembership, BusPosition, BusRecord, BusSink, JoinOptions } from '../bus.js';
import { seededRandom } from './seeded-random.js';

/** Probabilities are per record. */
export interface Faults {
  readonly seed: number;
  /** a record comes a second time, default 0.1 */
  readonly duplicate?: number;
  /** the position falls back by up to ten records, which come again in order, default 0.02 */
  readonly rollback?: number;
  /** a topic of one consumer stands still for a while, so that topics overtake one another, default 0.05 */
  readonly delay?: number;
  /** longest such while, default 30 ms */
  readonly maxDelayMs?: number;
}

const REPLAYED = 10;
/** Characters that one fall-back repeats, so that large records do not fill the queue with repetitions. */
const REPLAYED_SIZE = 100_000;

/**
 * Makes a bus as unkind as Kafka may be: duplicates, delays per topic and consumer, reordering across topics, positions that fall back. Order per topic and
 * partition is kept, but for what comes again. Equal seeds draw equal numbers; what they meet depends on timing.
 */
export class FaultInjector implements Bus {
  readonly positions: Bus['positions'];
  readonly isExclusive: boolean;
  readonly counts = { duplicates: 0, rollbacks: 0, delays: 0 };
  readonly #random: () => number;

  constructor(
    private readonly inner: Bus,
    private readonly faults: Faults,
  ) {
    this.positions = inner.positions;
    this.isExclusive = inner.isExclusive;
    this.#random = seededRandom(faults.seed);
  }

  async join(options: JoinOptions): Promise<BusMembership> {
    const sink = new FaultySink(options.sink, this.faults, this.#random, this.counts);
    const membership = await this.inner.join({ ...options, sink });
    return {
      acknowledge: (positions) => membership.acknowledge(positions),
      appended: (records) => membership.appended(records),
      ready: () => membership.ready(),
      retake: (shards) => membership.retake(shards),
      ...(membership.readTo === undefined
        ? {}
        : { readTo: (topic, partition) => membership.readTo?.(topic, partition) }),
      drained: () => membership.drained(),
      pause: async () => {
        await membership.pause();
        sink.clear();
      },
      stop: async () => {
        await membership.stop();
        sink.clear();
      },
    };
  }

  async stop(): Promise<void> {
    await this.inner.stop();
  }
}

class FaultySink implements BusSink {
  readonly #channels = new Map<string, Channel>();
  /** what the lane said last */
  #queuedBytes = 0;

  constructor(
    private readonly inner: BusSink,
    private readonly faults: Faults,
    private readonly random: () => number,
    private readonly counts: FaultInjector['counts'],
  ) {}

  /** Where the lane keeps the positions, some fall back. */
  async assigned(shards: readonly number[]): Promise<readonly BusPosition[]> {
    const positions = await this.inner.assigned(shards);
    return positions.map((position) => {
      if (!this.#happens(this.faults.rollback ?? 0.02)) return position;
      const back = BigInt(Math.floor(this.random() * REPLAYED));
      return { ...position, next: position.next > back ? position.next - back : 0n };
    });
  }

  async revoked(shards: readonly number[]): Promise<void> {
    for (const channel of this.#channels.values()) channel.drop(shards);
    await this.inner.revoked(shards);
  }

  deliver(records: readonly BusRecord[]): number {
    for (const record of records) this.#channel(record.topic).add(this.#withRepetitions(record));
    let bytes = 0;
    for (const channel of this.#channels.values()) bytes += channel.waitingBytes;
    return bytes + this.#queuedBytes;
  }

  failed(error: unknown): void {
    this.inner.failed(error);
  }

  published() {
    return this.inner.published();
  }

  async publish(positions: readonly BusPosition[]): Promise<void> {
    await this.inner.publish(positions);
  }

  clear(): void {
    for (const channel of this.#channels.values()) channel.clear();
  }

  #happens(probability: number): boolean {
    return this.random() < probability;
  }

  #withRepetitions(record: BusRecord): BusRecord[] {
    const { duplicate = 0.1, rollback = 0.02 } = this.faults;
    const channel = this.#channel(record.topic);
    if (this.#happens(duplicate)) {
      this.counts.duplicates += 1;
      return [record, record];
    }
    if (!this.#happens(rollback)) return [record];
    this.counts.rollbacks += 1;
    return [record, ...channel.lastOf(record.partition), record];
  }

  #channel(topic: string): Channel {
    let channel = this.#channels.get(topic);
    if (channel !== undefined) return channel;
    const { delay = 0.05, maxDelayMs = 30 } = this.faults;
    const stall = () => {
      if (!this.#happens(delay)) return 0;
      this.counts.delays += 1;
      return this.random() * maxDelayMs;
    };
    const hand = (passed: readonly BusRecord[]) => {
      this.#queuedBytes = this.inner.deliver(passed);
    };
    channel = new Channel(hand, stall);
    this.#channels.set(topic, channel);
    return channel;
  }
}

/** One topic on its way to one consumer: everything behind a stall waits with it. */
class Channel {
  #waiting: BusRecord[] = [];
  #timer: NodeJS.Timeout | undefined;
  readonly #last = new Map<number, BusRecord[]>();

  constructor(
    private readonly deliver: (records: readonly BusRecord[]) => void,
    private readonly stall: () => number,
  ) {}

  get waitingBytes(): number {
    return this.#waiting.reduce((sum, { value }) => sum + (value?.length ?? 0), 0);
  }

  add(records: readonly BusRecord[]): void {
    for (const record of records) {
      this.#waiting.push(record);
      const last = this.#last.get(record.partition) ?? [];
      this.#last.set(record.partition, [...last, record].slice(-REPLAYED));
    }
    if (this.#timer === undefined) this.#flush();
  }

  lastOf(partition: number): readonly BusRecord[] {
    const records = this.#last.get(partition) ?? [];
    let size = 0;
    const first = records.findLastIndex(({ value }) => (size += value?.length ?? 0) > REPLAYED_SIZE);
    return records.slice(first + 1);
  }

  drop(partitions: readonly number[]): void {
    this.#waiting = this.#waiting.filter(({ partition }) => !partitions.includes(partition));
    for (const partition of partitions) this.#last.delete(partition);
  }

  clear(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#waiting = [];
  }

  #flush(): void {
    this.#timer = undefined;
    const stallMs = this.stall();
    if (stallMs > 0) {
      this.#timer = setTimeout(() => this.#flush(), stallMs);
      return;
    }
    const records = this.#waiting;
    this.#waiting = [];
    this.deliver(records);
  }
}
