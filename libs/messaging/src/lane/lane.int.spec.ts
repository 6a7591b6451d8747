import { eventually, testDatabase } from '@lineclear/test-kit';
import { afterEach, describe, expect, it } from 'vitest';
import {
  add,
  COUNTER_TABLE,
  COUNTING,
  counters,
  countingHandler,
  NOTE_TABLE,
  openCounterWorld,
  type Twist,
} from '../testing/counter-service.js';
import type { TestWorld } from '../testing/test-world.js';
import type { EventInput, LaneInput } from './input.js';
import type { Handler } from './registry.js';

const worlds: TestWorld[] = [];

async function open() {
  const world = await openCounterWorld(await testDatabase());
  worlds.push(world);
  return world;
}

async function start(twist?: Twist, more: readonly Handler[] = []) {
  const world = await open();
  const handled: LaneInput[] = [];
  const lane = await world.startLane({ service: COUNTING, handlers: [countingHandler(handled, twist), ...more] });
  return { world, lane, handled };
}

const hashOf = (input: LaneInput) => (input as EventInput<'policy-set.activated'>).event.data.hash;

afterEach(async () => {
  await Promise.all(worlds.splice(0).map((world) => world.close()));
});

describe('M2: a lane', () => {
  it('commits state, event and position with one statement', async () => {
    const { world, lane } = await start();
    await world.publish(add('a', 2));
    expect(await world.waitFor(COUNTING, 'run.fenced')).toMatchObject({ subject: 'a', data: { n: 2 }, offset: 0 });
    await world.publish(add('a', 3));
    expect(await world.waitFor(COUNTING, ({ offset }) => offset === 1)).toMatchObject({ data: { n: 5 } });
    expect(await counters(world)).toEqual({ a: { total: 5, version: 2 } });
    expect(lane.counters).toMatchObject({ inputs: 2, commits: 2 });
    const [row] = await world.query(`SELECT positions::jsonb FROM tool_registry.shard WHERE positions <> '{}'`);
    expect(row).toEqual({ positions: { policies: 2 } });
  });

  it('shares a commit between many inputs and keeps the order of each key', async () => {
    const { world, lane } = await start();
    const keys = Array.from({ length: 20 }, (_, index) => `key-${index}`);
    for (let round = 1; round <= 10; round += 1) await Promise.all(keys.map((key) => world.publish(add(key, round))));
    await eventually(async () => expect((await world.events(COUNTING)).length).toBe(200));
    expect(Object.values(await counters(world))).toEqual(keys.map(() => ({ total: 55, version: 10 })));
    for (const key of keys) {
      const totals = (await world.events(COUNTING)).filter(({ subject }) => subject === key).map(({ data }) => data);
      expect(totals).toMatchObject([1, 3, 6, 10, 15, 21, 28, 36, 45, 55].map((n) => ({ n })));
    }
    expect(lane.counters.commits).toBeLessThan(200);
  });

  it('gives offsets without a gap per topic and shard', async () => {
    const { world } = await start();
    await Promise.all(Array.from({ length: 60 }, (_, index) => world.publish(add(`k${index % 7}`, 1))));
    await eventually(async () => expect((await world.events(COUNTING)).length).toBe(60));
    const gaps = await world.query(
      `SELECT topic, partition FROM tool_registry.outbox GROUP BY 1, 2 HAVING max("offset") <> count(*) - 1 OR min("offset") <> 0`,
    );
    expect(gaps).toEqual([]);
  });

  it('passes over what is not for it without a batch, and does not read it again', async () => {
    const { world, lane } = await start();
    const data = {
      callId: 'c',
      turn: 1,
      index: 0,
      round: 1,
      stage: 'first',
      tool: 't',
      reason: 'budget',
      message: 'm',
    };
    for (let n = 0; n < 20; n += 1)
      await world.publish({ name: 'tool-call.refused', key: `k${n}`, tenant: 'acme', data: data as never });
    const kept = `SELECT sum((positions::jsonb->>'runs')::int)::int AS sum FROM tool_registry.shard`;
    await eventually(async () => expect(await world.query(kept)).toEqual([{ sum: 20 }]));
    expect(lane.counters).toMatchObject({ inputs: 0, commits: 1 });
  });

  it('keeps a key in order across handlers', async () => {
    const order: string[] = [];
    const other: Handler = {
      name: 'Other.stop',
      patterns: { events: ['run.stop-started'], commands: ['mark'] },
      batch: true,
      handle: async (inputs, batch) => {
        for (const input of inputs) batch.attempt(input, () => void order.push(`command ${input.id}`));
      },
    };
    const { world, lane } = await start((input) => order.push(`event ${hashOf(input)}`), [other]);
    const send = (id: string) =>
      lane.commands.send({ id, name: 'mark', key: 'a', tenant: 'acme', payload: null, by: null });
    await send('1');
    await world.publish(add('a', 1, '2'));
    await eventually(() => order.length === 2);
    await send('3');
    expect(order).toEqual(['command 1', 'event 2', 'command 3']);
  });

  it('folds two writes to one row into one (two CTEs on a row would lose one)', async () => {
    const { world } = await start((input, writes) => {
      writes.put(NOTE_TABLE, { id: 'n', key: input.key, body: 'first', n: 1 });
      writes.put(NOTE_TABLE, { id: 'n', key: input.key, body: hashOf(input), n: 2 });
    });
    await Promise.all(['x', 'y', 'z'].map((hash) => world.publish(add('a', 1, hash))));
    await eventually(async () => expect((await world.events(COUNTING)).length).toBe(3));
    expect(await world.query('SELECT body, n FROM tool_registry.note')).toEqual([{ body: 'z', n: 2 }]);
    expect(await counters(world)).toEqual({ a: { total: 3, version: 3 } });
  });

  it('takes out only the input whose guard fails, commits the rest once, and decides it again after a reload', async () => {
    const { world, lane, handled } = await start();
    await world.publish(add('a', 1));
    await world.waitFor(COUNTING, 'run.fenced');
    await world.query(`UPDATE tool_registry.counter SET total = 100, version = 7 WHERE key = 'a'`);
    await Promise.all(['a', 'b', 'c', 'd'].map((key) => world.publish(add(key, 1))));
    await eventually(async () => expect((await world.events(COUNTING)).length).toBe(5));
    expect(await counters(world)).toMatchObject({ a: { total: 101, version: 8 }, b: { total: 1 }, d: { total: 1 } });
    expect(lane.counters.guardFailures).toBeGreaterThan(0);
    expect(lane.counters.held).toBe(0);
    expect(handled.length).toBeGreaterThan(5);
  });

  it('holds an input whose guard fails again and again, and nothing else', async () => {
    const { world, lane } = await start((input, writes) => {
      if (hashOf(input) === 'stale') writes.put(COUNTER_TABLE, { key: 'other', total: 1, version: 3 }, 2);
    });
    await world.publish(add('a', 1, 'stale'));
    await world.publish(add('b', 1));
    await world.waitFor(COUNTING, ({ subject }) => subject === 'b');
    await eventually(() => lane.counters.held === 1);
    const [held] = await world.query('SELECT key, state, code FROM tool_registry.held');
    expect(held).toEqual({ key: 'a', state: 'retrying', code: 'version-moved' });
  });

  it('finds the one input that the database refuses by bisection', async () => {
    const { world, lane } = await start((input, writes) => {
      const n = hashOf(input) === 'bad' ? -1 : 1;
      writes.insertOnce(NOTE_TABLE, { id: input.id, key: input.key, body: input.id, n });
    });
    const hashes = Array.from({ length: 16 }, (_, index) => (index === 11 ? 'bad' : 'ok'));
    await Promise.all(hashes.map((hash, index) => world.publish(add(`k${index}`, 1, hash))));
    await eventually(async () => expect((await world.events(COUNTING)).length).toBe(15));
    await eventually(async () =>
      expect(await world.query('SELECT key FROM tool_registry.held')).toEqual([{ key: 'k11' }]),
    );
    expect(lane.counters.bisections).toBeGreaterThan(0);
  });

  it('fails an input with a text that PostgreSQL cannot store, and no other', async () => {
    const { world } = await start((input, writes) => {
      writes.insertOnce(NOTE_TABLE, { id: input.id, key: input.key, body: hashOf(input), n: 1 });
    });
    await Promise.all([world.publish(add('a', 1, 'a\u0000b')), world.publish(add('b', 1, 'good'))]);
    await world.waitFor(COUNTING, ({ subject }) => subject === 'b');
    await eventually(async () =>
      expect(await world.query('SELECT key FROM tool_registry.held')).toEqual([{ key: 'a' }]),
    );
  });

  it.each(['plain', 'a\u001eb', '\u001f', '', 'line\nbreak "quoted" \\'])(
    'stores the text %j as it is',
    async (body) => {
      const { world } = await start((input, writes) => {
        writes.insertOnce(NOTE_TABLE, { id: input.id, key: input.key, body, n: 1 });
      });
      await world.publish(add('a', 1));
      await world.waitFor(COUNTING, 'run.fenced');
      expect(await world.query('SELECT body FROM tool_registry.note')).toEqual([{ body }]);
    },
  );

  it('reads each state once and keeps it while the shard is its own', async () => {
    const { world } = await start(() => undefined);
    await world.publish(add('a', 1));
    await world.waitFor(COUNTING, 'run.fenced');
    await world.query(`UPDATE tool_registry.counter SET total = 50 WHERE key = 'a'`);
    await world.publish(add('a', 1));
    await world.waitFor(COUNTING, ({ offset }) => offset === 1);
    expect(await counters(world)).toEqual({ a: { total: 2, version: 2 } });
  });

  it('never runs ahead of the database and gives handlers its time', async () => {
    const times: Date[] = [];
    const { world } = await start((_input, _writes, batch) => times.push(batch.now));
    const [before] = await world.query<{ now: Date }>('SELECT clock_timestamp() AS now');
    await world.publish(add('a', 1));
    await world.waitFor(COUNTING, 'run.fenced');
    const [after] = await world.query<{ now: Date }>('SELECT clock_timestamp() AS now');
    const [seen] = times;
    expect(seen?.getTime()).toBeGreaterThanOrEqual((before?.now.getTime() ?? 0) - 50);
    expect(seen?.getTime()).toBeLessThanOrEqual(after?.now.getTime() ?? 0);
  });
});
