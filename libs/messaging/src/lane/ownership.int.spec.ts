import { shardOf } from '@lineclear/contracts';
import { connectClient } from '@lineclear/persistence';
import { eventually, testDatabase } from '@lineclear/test-kit';
import { afterEach, describe, expect, it } from 'vitest';
import type { BusRecord } from '../bus/bus.js';
import {
  add,
  COUNTING,
  counters,
  countingHandler,
  NOTE_TABLE,
  openCounterWorld,
  type Twist,
} from '../testing/counter-service.js';
import { CutProxy } from '../testing/cut-proxy.js';
import { ManualBus } from '../testing/manual-bus.js';
import type { TestWorld } from '../testing/test-world.js';
import type { LaneInput } from './input.js';
import type { BatchHandler } from './handlers.js';
import type { Handler } from './registry.js';

const closing: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

async function open(): Promise<TestWorld> {
  const world = await openCounterWorld(await testDatabase());
  closing.push(() => world.close());
  return world;
}

/** A replica that believes what its own bus says. */
async function replica(world: TestWorld, twist?: Twist, handler?: Handler) {
  const bus = new ManualBus();
  const handled: LaneInput[] = [];
  const lane = await world.startLane({
    service: COUNTING,
    bus,
    handlers: [handler ?? countingHandler(handled, twist)],
  });
  return { lane, bus, handled };
}

const SHARD = shardOf('a');

/** Holds the first batch between its decision and its commit, as a pause of the process would. */
function gate() {
  const { promise: entered, resolve: enter } = Promise.withResolvers<void>();
  const { promise: opened, resolve: release } = Promise.withResolvers<void>();
  const wrap = (handler: Handler): Handler => {
    if (!handler.batch) return handler;
    const { handle, ...rest } = handler;
    return {
      ...rest,
      handle: (async (inputs, batch) => {
        await handle(inputs, batch);
        enter();
        await opened;
      }) satisfies BatchHandler,
    };
  };
  return { entered, release, wrap };
}

async function record(world: TestWorld, n: number): Promise<BusRecord> {
  const id = await world.publish(add('a', n));
  const [row] = await world.query<{ offset: string; headers: string; data: string }>(
    'SELECT "offset", headers, data FROM outside.outbox WHERE id = $1',
    [id],
  );
  const headers = JSON.parse(row?.headers ?? '{}') as Record<string, string>;
  return {
    topic: 'policies',
    partition: SHARD,
    offset: BigInt(row?.offset ?? 0),
    key: 'a',
    headers,
    value: row?.data ?? '',
  };
}

describe('S05: a zombie', () => {
  it('is refused by the epoch when it wakes, and nothing of it is published', async () => {
    const world = await open();
    const paused = gate();
    const handled: LaneInput[] = [];
    const zombie = await replica(world, undefined, paused.wrap(countingHandler(handled)));
    const owner = await replica(world);
    const event = await record(world, 4);
    await zombie.bus.sink.assigned([SHARD]);
    zombie.bus.sink.deliver([event]);
    await paused.entered;
    await owner.bus.sink.assigned([SHARD]);
    owner.bus.sink.deliver([event]);
    await world.waitFor(COUNTING, 'run.fenced');
    paused.release();
    await eventually(() => zombie.bus.told.retakes.length > 0);
    expect(zombie.bus.told).toMatchObject({ appended: [], acknowledged: [], retakes: [[SHARD]] });
    expect(zombie.lane.counters).toMatchObject({ fenced: 1, commits: 0 });
    expect(await counters(world)).toEqual({ a: { total: 4, version: 1 } });
    expect(await world.events(COUNTING)).toHaveLength(1);
  });

  it('keeps its other shards', async () => {
    const world = await open();
    const zombie = await replica(world);
    const owner = await replica(world);
    const other = shardOf('b');
    await zombie.bus.sink.assigned([SHARD, other]);
    await owner.bus.sink.assigned([SHARD]);
    const [a, b] = [await record(world, 1), { ...(await record(world, 1)), partition: other, key: 'b' }];
    const headers = { ...b.headers, ce_subject: 'b', ce_id: 'of-b' };
    zombie.bus.sink.deliver([a, { ...b, headers, offset: 0n }]);
    await eventually(async () => expect(await counters(world)).toEqual({ b: { total: 1, version: 1 } }));
    expect(zombie.bus.told.retakes).toEqual([[SHARD]]);
  });
});

describe('S04: one event at two replicas', () => {
  it('makes one transition and one event, redelivered after a rebalance or handled by both at once', async () => {
    const world = await open();
    const once = (): Handler => {
      const handled: LaneInput[] = [];
      const { name, patterns, ...rest } = countingHandler(handled);
      return { ...rest, name, patterns: { ...patterns, inbox: 'counting' } } as Handler;
    };
    const [first, second] = [await replica(world, undefined, once()), await replica(world, undefined, once())];
    const event = await record(world, 3);
    await first.bus.sink.assigned([SHARD]);
    first.bus.sink.deliver([event, event]);
    await world.waitFor(COUNTING, 'run.fenced');
    await second.bus.sink.assigned([SHARD]);
    second.bus.sink.deliver([event]);
    first.bus.sink.deliver([event]);
    await eventually(() => second.bus.told.acknowledged.length + second.lane.counters.inputs > 0);
    await eventually(() => first.bus.told.retakes.length > 0 || first.lane.counters.inputs >= 3);
    expect(await counters(world)).toEqual({ a: { total: 3, version: 1 } });
    expect(await world.events(COUNTING)).toHaveLength(1);
  });
});

describe('M1: a commit with unknown outcome', () => {
  async function proxied(twist?: Twist) {
    const world = await open();
    const [address] = await world.query<{ host: string; port: number }>(
      'SELECT host(inet_server_addr()) AS host, inet_server_port() AS port',
    );
    const proxy = await CutProxy.start(address ?? { host: '', port: 0 });
    closing.push(() => proxy.stop());
    const handled: LaneInput[] = [];
    const via = { host: '127.0.0.1', port: proxy.port };
    const lane = await world.startLane({ service: COUNTING, via, handlers: [countingHandler(handled, twist)] });
    return { world, proxy, lane, handled };
  }

  /** The answer of a lane statement names the columns of its checks. */
  const isLaneAnswer = (data: Buffer) => data.includes('raised');

  it('is done once when the commit was made and its answer lost', async () => {
    const { world, proxy, lane } = await proxied();
    await world.publish(add('a', 1));
    await world.waitFor(COUNTING, 'run.fenced');
    proxy.loseAnswer(isLaneAnswer);
    await world.publish(add('a', 2));
    await world.waitFor(COUNTING, ({ offset }) => offset === 1);
    await world.publish(add('a', 3));
    expect(await world.waitFor(COUNTING, ({ offset }) => offset === 2)).toMatchObject({ data: { n: 6 } });
    expect(proxy.cuts).toBe(1);
    expect(lane.counters.reconnects).toBe(1);
    expect(await counters(world)).toEqual({ a: { total: 6, version: 3 } });
    expect(await world.events(COUNTING)).toHaveLength(3);
  });

  it('is done again when the backend was ended before it committed', async () => {
    const { world, lane } = await proxied();
    await world.publish(add('a', 1));
    await world.waitFor(COUNTING, 'run.fenced');
    const blocker = await connectClient(await world.databaseOf(COUNTING), {
      name: 'blocker',
      onError: () => undefined,
    });
    closing.push(() => blocker.end());
    await blocker.query("BEGIN; SELECT 1 FROM counter WHERE key = 'a' FOR UPDATE");
    await world.publish(add('a', 2));
    const ended = `SELECT pg_terminate_backend(pid) AS ended FROM pg_stat_activity
      WHERE application_name = 'tool-registry lane' AND datname = current_database() AND wait_event_type = 'Lock'`;
    await eventually(async () => expect(await world.query(ended)).toEqual([{ ended: true }]));
    await blocker.query('ROLLBACK');
    expect(await world.waitFor(COUNTING, ({ offset }) => offset === 1)).toMatchObject({ data: { n: 3 } });
    expect(lane.counters.reconnects).toBe(1);
    expect(await world.events(COUNTING)).toHaveLength(2);
  });

  it('waits while the database is away and then goes on where it was', async () => {
    const { world, proxy, lane } = await proxied();
    await world.publish(add('a', 1));
    await world.waitFor(COUNTING, 'run.fenced');
    proxy.down();
    await world.publish(add('a', 2));
    await eventually(() => lane.counters.reconnects > 0);
    await world.publish(add('b', 5));
    proxy.up();
    await world.waitFor(COUNTING, ({ subject }) => subject === 'b');
    await eventually(async () => expect(await counters(world)).toMatchObject({ a: { total: 3 }, b: { total: 5 } }));
    expect(lane.counters.held).toBe(0);
  });
});

describe('a stop', () => {
  it('ends in time although the database is away', async () => {
    const world = await open();
    const [address] = await world.query<{ host: string; port: number }>(
      'SELECT host(inet_server_addr()) AS host, inet_server_port() AS port',
    );
    const proxy = await CutProxy.start(address ?? { host: '', port: 0 });
    closing.push(() => proxy.stop());
    const via = { host: '127.0.0.1', port: proxy.port };
    const lane = await world.startLane({ service: COUNTING, via, handlers: [countingHandler([])] });
    proxy.down();
    await world.publish(add('a', 1));
    await eventually(() => lane.counters.reconnects > 0);
    const before = performance.now();
    await lane.stop({ drainMs: 100 });
    expect(performance.now() - before).toBeLessThan(5_000);
  });
});

describe('what a takeover reads', () => {
  it('goes on at the heads, positions and states of the former owner', async () => {
    const world = await open();
    const handled: LaneInput[] = [];
    const handlers = [
      countingHandler(handled, (input, writes) =>
        writes.insertOnce(NOTE_TABLE, { id: input.id, key: input.key, body: input.id, n: 1 }),
      ),
    ];
    await world.startLane({ service: COUNTING, handlers });
    await world.publish(add('a', 1));
    await world.waitFor(COUNTING, 'run.fenced');
    await world.crash();
    await world.publish(add('a', 10));
    await world.startLane({ service: COUNTING, handlers });
    expect(await world.waitFor(COUNTING, ({ offset }) => offset === 1)).toMatchObject({ data: { n: 11 } });
    expect(handled).toHaveLength(2);
  });
});
