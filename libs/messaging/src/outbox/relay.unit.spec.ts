import type { Topic } from '@lineclear/contracts';
import { eventually } from '@lineclear/test-kit';
import fc from 'fast-check';
import { afterEach, describe, expect, it } from 'vitest';
import type { Cursor } from '../bus/embedded/cursor.js';
import { READ_LIMIT } from '../bus/embedded/log-reader.js';
import type { BusRecord, PublishedPosition } from '../bus/bus.js';
import { SILENT } from '../lane/log.js';
import { type BrokerView, type LogPublisher, type OutboxLog, Relay } from './relay.js';
import type { Ack } from './relay-stream.js';

/** The outbox and what the lane notes, in memory. */
class MemoryOutbox implements OutboxLog {
  readonly records: BusRecord[] = [];
  readonly noted = new Map<string, PublishedPosition>();
  reads = 0;

  constructor(private readonly shards: readonly number[] = [0, 1]) {}

  append(partition: number, count = 1): BusRecord[] {
    const added: BusRecord[] = [];
    for (let i = 0; i < count; i++) {
      const offset = BigInt(this.records.filter((record) => record.partition === partition).length);
      const record = {
        topic: 'runs',
        partition,
        offset,
        key: 'k',
        headers: {},
        value: `${partition}/${offset}`,
      } as const;
      this.records.push(record);
      added.push(record);
    }
    return added;
  }

  read(topic: Topic, cursors: readonly Cursor[]): Promise<ReadonlyMap<Cursor, readonly BusRecord[]>> {
    this.reads += 1;
    const of = ({ partition, next }: Cursor) =>
      this.records
        .filter((record) => record.topic === topic && record.partition === partition && record.offset >= next)
        .slice(0, READ_LIMIT);
    return Promise.resolve(new Map(cursors.map((cursor) => [cursor, of(cursor)])));
  }

  published(): PublishedPosition[] {
    return this.shards.map((partition) => this.noted.get(`${partition}`) ?? { topic: 'runs', partition, next: 0n });
  }

  publish(positions: readonly PublishedPosition[]): Promise<void> {
    for (const position of positions) this.noted.set(`${position.partition}`, position);
    return Promise.resolve();
  }
}

/** A broker that stores in memory and fails as it is told. */
class MemoryBroker implements LogPublisher {
  readonly stored = new Map<number, string[]>();
  cluster = 'c1';
  connects = 0;
  sends = 0;
  /** what the next sends do; `lost-answer` stores and then fails */
  readonly plan: ('ok' | 'fails' | 'lost-answer')[] = [];
  /** partitions that nothing can be sent to */
  readonly broken = new Set<number>();
  #isConnected = false;

  connect(): Promise<void> {
    this.connects += 1;
    this.#isConnected = true;
    return Promise.resolve();
  }

  inspect(topics: readonly Topic[]): Promise<BrokerView> {
    const ends = topics.flatMap((topic) =>
      [0, 1].map((partition) => ({ topic, partition, end: this.#end(partition) })),
    );
    return Promise.resolve({ cluster: this.cluster, ends });
  }

  #end(partition: number): bigint {
    return BigInt(this.of(partition).length);
  }

  async send(records: readonly BusRecord[]): Promise<readonly Ack[]> {
    await Promise.resolve();
    if (!this.#isConnected) throw new Error('sent without a connection');
    this.sends += 1;
    const outcome = this.plan.shift() ?? 'ok';
    const isRefused = records.some(({ partition }) => this.broken.has(partition));
    const acks = outcome === 'fails' || isRefused ? [] : this.#store(records);
    if (outcome === 'ok' && !isRefused) return acks;
    this.#isConnected = false;
    throw new Error(outcome);
  }

  #store(records: readonly BusRecord[]): Ack[] {
    const acks: Ack[] = [];
    for (const [partition, own] of Map.groupBy(records, (record) => record.partition)) {
      const log = this.stored.get(partition) ?? [];
      acks.push({ topic: 'runs', partition, baseOffset: BigInt(log.length) });
      this.stored.set(partition, [...log, ...own.map(({ value }) => value ?? '')]);
    }
    return acks;
  }

  wipe(): void {
    this.stored.clear();
  }

  of(partition: number): string[] {
    return this.stored.get(partition) ?? [];
  }

  /** Each value once, at its first place. */
  firsts(partition: number): string[] {
    return [...new Set(this.of(partition))];
  }

  close(): Promise<void> {
    return Promise.resolve();
  }
}

const relays: Relay[] = [];
afterEach(() => Promise.all(relays.splice(0).map((relay) => relay.stop())));

function start(outbox: MemoryOutbox, broker: MemoryBroker): Relay {
  const relay = new Relay({ sink: outbox, outbox, publisher: broker, log: SILENT });
  relays.push(relay);
  relay.start();
  return relay;
}

describe('the relay', () => {
  it('sends what is handed over without reading the log again, in order, and notes it', async () => {
    const outbox = new MemoryOutbox();
    const broker = new MemoryBroker();
    const relay = start(outbox, broker);
    relay.assigned([0, 1]);
    await eventually(() => outbox.reads > 0 && relay.ready());
    const reads = outbox.reads;
    for (let i = 0; i < 5; i++) relay.appended([...outbox.append(0), ...outbox.append(1)]);
    await eventually(() => broker.of(0).length === 5 && broker.of(1).length === 5);
    expect(broker.of(0)).toEqual(['0/0', '0/1', '0/2', '0/3', '0/4']);
    expect(outbox.reads).toBe(reads);
    await eventually(() => outbox.noted.get('1')?.next === 5n);
    expect(outbox.noted.get('0')).toMatchObject({ next: 5n, brokerOffset: 4n });
  });

  it('begins where it was noted and reads what nobody handed over', async () => {
    const outbox = new MemoryOutbox();
    outbox.append(0, 450);
    outbox.noted.set('0', { topic: 'runs', partition: 0, next: 10n });
    const broker = new MemoryBroker();
    start(outbox, broker).assigned([0, 1]);
    await eventually(() => broker.of(0).length === 440);
    expect(broker.of(0)).toEqual(outbox.records.slice(10).map(({ value }) => value));
  });

  it('reads the log when a hand-over has a gap', async () => {
    const outbox = new MemoryOutbox();
    const broker = new MemoryBroker();
    const relay = start(outbox, broker);
    relay.assigned([0]);
    await eventually(() => outbox.reads > 0 && relay.ready());
    outbox.append(0);
    relay.appended(outbox.append(0));
    await eventually(() => broker.of(0).length === 2);
    expect(broker.of(0)).toEqual(['0/0', '0/1']);
  });

  it.each(['fails', 'lost-answer'] as const)(
    'connects anew and sends again from the log when a send %s',
    async (outcome) => {
      const outbox = new MemoryOutbox();
      const broker = new MemoryBroker();
      broker.plan.push('ok', outcome, outcome);
      const relay = start(outbox, broker);
      relay.assigned([0, 1]);
      relay.appended(outbox.append(0, 3));
      await eventually(() => broker.of(0).length === 3);
      relay.appended([...outbox.append(0, 3), ...outbox.append(1, 2)]);
      await eventually(() => broker.firsts(0).length === 6 && broker.firsts(1).length === 2);
      expect(broker.firsts(0)).toEqual(['0/0', '0/1', '0/2', '0/3', '0/4', '0/5']);
      expect(broker.connects).toBeGreaterThan(1);
    },
  );

  it('goes on with other shards when one cannot be sent', async () => {
    const outbox = new MemoryOutbox();
    const broker = new MemoryBroker();
    broker.broken.add(0);
    const relay = start(outbox, broker);
    relay.assigned([0, 1]);
    relay.appended([...outbox.append(0, 2), ...outbox.append(1, 2)]);
    await eventually(() => broker.of(1).length === 2);
    relay.appended(outbox.append(1, 2));
    await eventually(() => broker.of(1).length === 4);
    broker.broken.clear();
    await eventually(() => broker.of(0).length === 2);
    expect(broker.of(0)).toEqual(['0/0', '0/1']);
  });

  it('sends the whole log again when the cluster is another one', async () => {
    const outbox = new MemoryOutbox();
    const broker = new MemoryBroker();
    const first = start(outbox, broker);
    first.assigned([0, 1]);
    first.appended(outbox.append(0, 3));
    await eventually(() => outbox.noted.get('0')?.next === 3n);
    await first.stop();
    broker.wipe();
    broker.cluster = 'c2';
    start(outbox, broker).assigned([0, 1]);
    await eventually(() => broker.of(0).length === 3);
    expect(broker.of(0)).toEqual(['0/0', '0/1', '0/2']);
    await eventually(() => outbox.noted.get('0')?.brokerOffset === 2n);
  });

  it('notes the right place when retention has dropped the start of the log', async () => {
    const outbox = new MemoryOutbox();
    outbox.append(0, 10);
    outbox.records.splice(0, 6);
    const broker = new MemoryBroker();
    start(outbox, broker).assigned([0]);
    await eventually(() => outbox.noted.has('0'));
    expect(broker.of(0)).toEqual(['0/6', '0/7', '0/8', '0/9']);
    expect(outbox.noted.get('0')?.next).toBe(10n);
  });

  it('sends the whole log of a topic again when the broker counts from the start', async () => {
    const outbox = new MemoryOutbox();
    const broker = new MemoryBroker();
    const relay = start(outbox, broker);
    relay.assigned([0, 1]);
    relay.appended([...outbox.append(0, 3), ...outbox.append(1, 3)]);
    await eventually(() => broker.of(0).length === 3 && broker.of(1).length === 3);
    broker.wipe();
    relay.appended(outbox.append(0));
    await eventually(() => broker.firsts(0).length === 4 && broker.of(1).length === 3);
    expect(broker.of(0)).toEqual(['0/3', '0/0', '0/1', '0/2', '0/3']);
  });

  it('sends the whole log of a topic again when the broker has less than it acknowledged, also when nothing new comes', async () => {
    const outbox = new MemoryOutbox();
    const broker = new MemoryBroker();
    const first = start(outbox, broker);
    first.assigned([0, 1]);
    first.appended([...outbox.append(0, 3), ...outbox.append(1, 3)]);
    await eventually(() => outbox.noted.get('0')?.next === 3n && outbox.noted.get('1')?.next === 3n);
    await first.stop();
    broker.stored.delete(0);
    start(outbox, broker).assigned([0, 1]);
    await eventually(() => broker.of(0).length === 3 && broker.of(1).length === 6);
    expect(broker.of(0)).toEqual(['0/0', '0/1', '0/2']);
  });

  it('sends nothing more of a shard that was given back', async () => {
    const outbox = new MemoryOutbox();
    const broker = new MemoryBroker();
    const relay = start(outbox, broker);
    relay.assigned([0, 1]);
    relay.revoked([0]);
    relay.appended([...outbox.append(0), ...outbox.append(1)]);
    await eventually(() => broker.of(1).length === 1);
    expect(broker.of(0)).toEqual([]);
  });

  it('stores every record at least once and first in order, whatever fails and whoever hands over', async () => {
    const step = fc.oneof(
      fc.record({
        kind: fc.constant('append' as const),
        partition: fc.nat(1),
        count: fc.integer({ min: 1, max: 5 }),
        told: fc.boolean(),
      }),
      fc.record({
        kind: fc.constant('send' as const),
        outcome: fc.constantFrom('ok' as const, 'fails' as const, 'lost-answer' as const),
      }),
      fc.record({ kind: fc.constant('retake' as const), partition: fc.nat(1) }),
      fc.record({ kind: fc.constant('turn' as const) }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 25 }), async (steps) => {
        const outbox = new MemoryOutbox();
        const broker = new MemoryBroker();
        const relay = start(outbox, broker);
        relay.assigned([0, 1]);
        for (const one of steps) {
          if (one.kind === 'send') broker.plan.push(one.outcome);
          else if (one.kind === 'turn') await new Promise((resolve) => setImmediate(resolve));
          else if (one.kind === 'retake') {
            relay.revoked([one.partition]);
            relay.assigned([one.partition]);
          } else {
            const records = outbox.append(one.partition, one.count);
            if (one.told) relay.appended(records);
          }
        }
        broker.plan.length = 0;
        relay.revoked([0, 1]);
        relay.assigned([0, 1]);
        const wanted = (partition: number) => outbox.records.filter((record) => record.partition === partition);
        await eventually(() => [0, 1].every((shard) => broker.firsts(shard).length === wanted(shard).length), {
          intervalMs: 1,
          timeoutMs: 5_000,
        });
        for (const shard of [0, 1]) expect(broker.firsts(shard)).toEqual(wanted(shard).map(({ value }) => value));
        await relay.stop();
      }),
      { numRuns: 60 },
    );
  }, 60_000);
});
