import { shardOf } from '@lineclear/contracts';
import { eventually, testDatabase } from '@lineclear/test-kit';
import { afterEach, describe, expect, it } from 'vitest';
import type { EventInput, LaneInput } from '../../lane/input.js';
import { ManualBus } from '../../testing/manual-bus.js';
import { add, COUNTING, counters, countingHandler, openCounterWorld } from '../../testing/counter-service.js';
import type { TestWorld } from '../../testing/test-world.js';
import type { BusRecord } from '../bus.js';
import { EmbeddedBus } from './embedded-bus.js';
import { FaultInjector } from './injector.js';

const closing: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

async function open(): Promise<TestWorld> {
  const world = await openCounterWorld(await testDatabase());
  closing.push(() => world.close());
  return world;
}

describe('M3: the hand-over in the process', () => {
  it('reads the table for what it missed, before what it got', async () => {
    const world = await open();
    const handled: LaneInput[] = [];
    await world.startLane({ service: COUNTING, handlers: [countingHandler(handled)] });
    await world.publish(add('a', 1));
    await eventually(() => handled.length === 1);
    await world.query(
      `INSERT INTO outside.outbox SELECT topic, partition, 1, key, 'missed', replace(headers, id, 'missed'), replace(data, '"version":1', '"version":7'), bucket
       FROM outside.outbox`,
    );
    await world.publish(add('a', 10));
    await eventually(() => handled.length === 3);
    expect(handled.map((input) => (input as EventInput<'policy-set.activated'>).event.data.version)).toEqual([
      1, 7, 10,
    ]);
    expect(await counters(world)).toEqual({ a: { total: 18, version: 3 } });
  });

  it('takes large records in by portions, and all of them', async () => {
    const world = await open();
    for (let n = 1; n <= 60; n += 1) await world.publish(add('a', 1, `${n}-${'x'.repeat(100_000)}`));
    const handled: LaneInput[] = [];
    const lane = await world.startLane({ service: COUNTING, handlers: [countingHandler(handled)] });
    await eventually(() => handled.length === 60);
    const order = handled.map((input) =>
      Number.parseInt((input as EventInput<'policy-set.activated'>).event.data.hash, 10),
    );
    expect(order).toEqual(Array.from({ length: 60 }, (_, index) => index + 1));
    expect(lane.reasons()).toEqual([]);
  });

  it('gives the event as it was emitted, not parsed again, and its text with it', async () => {
    const world = await open();
    const events: unknown[] = [];
    await world.databaseOf('orchestrator');
    await world.startLane({
      service: 'orchestrator',
      handlers: [
        {
          name: 'Reader',
          patterns: { events: ['run.fenced'] },
          batch: false,
          handle: (input) => void events.push(input.kind === 'event' ? [input.event.data, input.text] : undefined),
        },
      ],
    });
    await world.startLane({ service: COUNTING, handlers: [countingHandler([])] });
    await world.publish(add('a', 1));
    await eventually(() => events.length === 1);
    expect(events).toEqual([[{ n: 1, open: [], settled: [] }, '{"n":1,"open":[],"settled":[]}']]);
  });
});

describe('the embedded bus', () => {
  it('is one process: a second one on its database is refused by name', async () => {
    const database = await (await testDatabase()).createDatabase();
    const first = await EmbeddedBus.start({ database });
    closing.push(() => first.stop());
    await expect(EmbeddedBus.start({ database })).rejects.toMatchObject({ code: 'folder-in-use' });
  }, 20_000);

  it('takes its lock again when the session was lost', async () => {
    const world = await open();
    const lane = await world.startLane({ service: COUNTING, handlers: [countingHandler([])] });
    await world.query(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name LIKE 'lineclear instance%' AND datname = current_database()`,
    );
    const held = `SELECT 1 FROM pg_locks l JOIN pg_stat_activity a USING (pid)
      WHERE l.locktype = 'advisory' AND l.granted AND a.datname = current_database() AND a.application_name LIKE 'lineclear instance%'`;
    await eventually(async () => expect(await world.query(held)).toHaveLength(1));
    await eventually(() => expect(lane.reasons()).toEqual([]));
  });
});

describe('the fault injector', () => {
  const record = (partition: number, offset: number): BusRecord => ({
    topic: 'policies',
    partition,
    offset: BigInt(offset),
    key: 'k',
    headers: {},
    value: '',
  });

  async function deliver(seed: number, count: number) {
    const inner = new ManualBus();
    const injector = new FaultInjector(inner, { seed, duplicate: 0.3, rollback: 0.1, delay: 0.2, maxDelayMs: 2 });
    const seen: BusRecord[] = [];
    const nothing = async () => [];
    await injector.join({
      service: COUNTING,
      topics: ['policies'],
      sink: {
        assigned: nothing,
        revoked: async () => undefined,
        deliver: (records) => seen.push(...records),
        failed: () => undefined,
        published: () => [],
        publish: async () => undefined,
      },
    });
    for (let offset = 0; offset < count; offset += 1)
      inner.sink.deliver([record(shardOf('a'), offset), record(1, offset)]);
    await eventually(() => new Set(seen.map(({ partition, offset }) => `${partition}/${offset}`)).size === 2 * count);
    return { seen, counts: injector.counts };
  }

  it('lets records come again and late, and never the first time out of order', async () => {
    const { seen, counts } = await deliver(3, 100);
    for (const partition of [1, shardOf('a')]) {
      const offsets = seen.filter((one) => one.partition === partition).map(({ offset }) => Number(offset));
      expect([...new Set(offsets)]).toEqual(Array.from({ length: 100 }, (_, index) => index));
    }
    expect(Math.min(counts.duplicates, counts.rollbacks, counts.delays)).toBeGreaterThan(0);
    expect(seen.length).toBeGreaterThan(200);
  });
});
