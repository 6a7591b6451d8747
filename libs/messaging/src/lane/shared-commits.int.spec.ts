import { eventually, testDatabase } from '@lineclear/test-kit';
import { connectClient } from '@lineclear/persistence';
import { afterEach, describe, expect, it } from 'vitest';
import {
  add,
  CounterTables1764400000001,
  countingHandler,
  decideCounters,
  type Counted,
  type Counter,
  type Twist,
  writeCounter,
} from '../testing/counter-service.js';
import { TestWorld } from '../testing/test-world.js';
import { InvariantViolationError } from '@lineclear/errors';
import type { Lane, LaneOptions } from './lane.js';
import { LaneGroup } from './lane-group.js';
import type { Handler } from './registry.js';
import { SharedCommits } from './shared-commits.js';

const closing: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

let emitted = 0;

/** Emits an event for each key that a command names, numbered in `hash`, so that what follows goes over three services. */
const emitting: Handler = {
  name: 'Emitting.emit',
  patterns: { commands: ['emit'] },
  batch: false,
  handle: (input, { writes }) => {
    if (input.kind !== 'command') return;
    for (const key of input.payload as string[]) writes.emit(add(key, 1, String((emitted += 1))));
  },
};

/** Keeps the last total of each key and how many came; refuses one that does not follow the last. */
const following: Handler = {
  name: 'Following.follow',
  patterns: { events: ['run.fenced'] },
  batch: true,
  handle: (inputs, batch) =>
    decideCounters(inputs, batch, (input, before, writes) => {
      if (input.kind !== 'event' || input.name !== 'run.fenced') return;
      const { n } = input.event.data as { n: number };
      const last = before?.total ?? 0;
      if (n !== last + 1) throw new InvariantViolationError('invariant-violated', `${n} does not follow ${last}`);
      writeCounter(writes, input.key, n, before);
    }),
};

interface Started {
  readonly policy: Lane;
  readonly registry: Lane;
  readonly orchestrator: Lane;
}

async function open() {
  const database = await (await testDatabase()).createDatabase();
  const world = await TestWorld.open({ database, services: ['policy-engine', 'tool-registry', 'orchestrator'] });
  closing.push(() => world.close());
  await world.databaseOf('policy-engine');
  for (const service of ['tool-registry', 'orchestrator'] as const)
    await world.databaseOf(service, [CounterTables1764400000001]);
  const start = async (twist?: Twist, options: Partial<LaneOptions> = {}): Promise<Started> => {
    const common = { group: new LaneGroup(new SharedCommits(database)), ...options };
    return {
      policy: await world.startLane({ service: 'policy-engine', handlers: [emitting], ...common }),
      registry: await world.startLane({ service: 'tool-registry', handlers: [countingHandler([], twist)], ...common }),
      orchestrator: await world.startLane({ service: 'orchestrator', handlers: [following], ...common }),
    };
  };
  return { world, start, database };
}

const emit = async ({ policy }: Started, keys: readonly string[], key = 'sender') => {
  const answer = await policy.commands.send({ name: 'emit', key, tenant: 'acme', payload: keys, by: null });
  expect(answer).toMatchObject({ ok: true });
};

const totals = async (world: TestWorld, schema: string): Promise<Record<string, Counter>> => {
  const rows = await world.query<Counter & { key: string }>(`SELECT key, total, version FROM ${schema}.counter`);
  return Object.fromEntries(rows.map(({ key, total, version }) => [key, { total, version }]));
};

/** Every event was counted once and followed once, in order. */
async function expectCounted(world: TestWorld, keys: readonly string[], n: number): Promise<void> {
  const all = Object.fromEntries(keys.map((key) => [key, { total: n, version: n }]));
  await eventually(async () => expect(await totals(world, 'orchestrator')).toEqual(all), { timeoutMs: 20_000 });
  expect(await totals(world, 'tool_registry')).toEqual(all);
}

const KEYS = Array.from({ length: 12 }, (_, index) => `key-${index}`);
const sum = (lanes: Started, name: 'commits' | 'commitsShared' | 'held' | 'inputs' | 'reconnects') =>
  Object.values(lanes).reduce((total, lane: Lane) => total + lane.counters[name], 0);

describe('M2: lanes that commit together', () => {
  it('handle what a round appends in the same round, and commit all of it with one statement', async () => {
    const { world, start } = await open();
    const lanes = await start();
    await eventually(() => Object.values(lanes).every((lane: Lane) => lane.reasons().length === 0));
    await emit(lanes, ['a']);
    expect(await totals(world, 'orchestrator')).toEqual({ a: { total: 1, version: 1 } });
    expect([sum(lanes, 'inputs'), sum(lanes, 'commits') - sum(lanes, 'commitsShared')]).toEqual([3, 1]);
    const positions = await world.query(
      `SELECT positions::jsonb FROM tool_registry.shard WHERE positions <> '{}' UNION ALL SELECT positions::jsonb FROM orchestrator.shard WHERE positions <> '{}'`,
    );
    expect(positions).toEqual([{ positions: { policies: 1 } }, { positions: { tools: 1 } }]);
  });

  it('lose nothing, repeat nothing and keep the order of each key', async () => {
    const { world, start } = await open();
    const lanes = await start();
    for (let round = 0; round < 20; round += 1)
      await Promise.all([1, 2, 3].map((n) => emit(lanes, KEYS, `sender-${n}`)));
    await expectCounted(world, KEYS, 60);
    expect(sum(lanes, 'held')).toBe(0);
  });

  it('let no message overtake one of its topic and shard that still waits', async () => {
    const { world, start } = await open();
    const seen: number[] = [];
    const see: Twist = (input) => void seen.push(Number((input as Counted).event.data.hash));
    const lanes = await start(see, { batch: { decideMs: 0.001 } });
    const three = ['a', 'a', 'a'];
    await Promise.all(Array.from({ length: 30 }, (_, n) => emit(lanes, three, `sender-${n % 9}`)));
    await expectCounted(world, ['a'], 90);
    expect(seen).toEqual([...seen].sort((a, b) => a - b));
    expect(sum(lanes, 'held')).toBe(0);
  });

  it('take a failing input out of the round alone', async () => {
    const { world, start } = await open();
    const lanes = await start(({ key }) => {
      if (key === 'bad') throw new InvariantViolationError('invariant-violated', 'this one is bad');
    });
    for (let round = 0; round < 5; round += 1) await emit(lanes, ['bad', ...KEYS]);
    await expectCounted(world, KEYS, 5);
    expect(await world.query(`SELECT count(*)::int AS held FROM tool_registry.held`)).toEqual([{ held: 5 }]);
  });

  it('decide an input again when its row was changed by somebody else', async () => {
    const { world, start } = await open();
    const lanes = await start();
    await emit(lanes, KEYS);
    await world.query(`UPDATE tool_registry.counter SET version = version + 1 WHERE key = 'key-3'`);
    await emit(lanes, KEYS);
    await eventually(async () => expect((await totals(world, 'orchestrator'))['key-3']?.total).toBe(2));
    expect((await totals(world, 'tool_registry'))['key-3']).toEqual({ total: 2, version: 3 });
    expect(lanes.registry.counters.guardFailures).toBeGreaterThan(0);
    const before = sum(lanes, 'commits') - sum(lanes, 'commitsShared');
    await emit(lanes, ['key-3']);
    await eventually(async () => expect((await totals(world, 'orchestrator'))['key-3']?.total).toBe(3));
    expect(sum(lanes, 'commits') - sum(lanes, 'commitsShared')).toBe(before + 1);
  });

  it('give up a round of which one shard has another owner, and write nothing of it before that shard is ours again', async () => {
    const { world, start } = await open();
    const lanes = await start();
    await emit(lanes, KEYS);
    await world.query('UPDATE tool_registry.shard SET epoch = epoch + 1');
    await emit(lanes, KEYS);
    await expectCounted(world, KEYS, 2);
    expect(lanes.registry.counters.fenced).toBeGreaterThan(0);
    expect(lanes.policy.counters.fenced).toBe(0);
  });

  it('go on when the outcome of a statement is unknown, whichever it was', async () => {
    const { world, start, database } = await open();
    const lanes = await start();
    const killer = await connectClient(database, { name: 'killer', onError: () => undefined });
    closing.push(() => killer.end());
    for (let round = 0; round < 12; round += 1) {
      const sent = Promise.all([1, 2, 3].map((n) => emit(lanes, KEYS, `sender-${n}`)));
      await new Promise((resolve) => void setTimeout(resolve, round));
      await killer.query(
        `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name LIKE '%shared lane%' AND datname = current_database()`,
      );
      await sent;
    }
    await expectCounted(world, KEYS, 36);
    expect(sum(lanes, 'held')).toBe(0);
    expect(Object.values(lanes).every((lane: Lane) => lane.counters.reconnects > 0)).toBe(true);
  });

  it('lose nothing and repeat nothing when the process is killed', async () => {
    const { world, start } = await open();
    let lanes = await start();
    for (let round = 0; round < 5; round += 1) {
      await emit(lanes, KEYS);
      await world.crash();
      lanes = await start();
    }
    await emit(lanes, KEYS);
    await expectCounted(world, KEYS, 6);
    expect(sum(lanes, 'held')).toBe(0);
  });

  it('leave one after the other, and the rest go on', async () => {
    const { world, start } = await open();
    const lanes = await start();
    await emit(lanes, KEYS);
    await lanes.orchestrator.stop();
    await emit(lanes, KEYS);
    await eventually(async () => expect((await totals(world, 'tool_registry'))['key-1']?.total).toBe(2));
    expect((await totals(world, 'orchestrator'))['key-1']?.total).toBe(1);
  });

  it('go on when one of them is replaced', async () => {
    const { world, start, database } = await open();
    const group = new LaneGroup(new SharedCommits(database));
    const lanes = await start(undefined, { group });
    for (let round = 0; round < 8; round += 1) await emit(lanes, KEYS);
    await expectCounted(world, KEYS, 8);
    await lanes.registry.stop();
    const next = await world.startLane({ service: 'tool-registry', handlers: [countingHandler([])], group });
    await eventually(() => next.reasons().length === 0);
    for (let round = 0; round < 8; round += 1) await emit(lanes, KEYS);
    await expectCounted(world, KEYS, 16);
    expect(next.counters.held).toBe(0);
  });

  it('commit each by itself while the connection that they share cannot be made', async () => {
    const { world, start, database } = await open();
    const lanes = await start(undefined, { group: new LaneGroup(new SharedCommits({ ...database, port: 1 })) });
    for (let round = 0; round < 3; round += 1) await emit(lanes, KEYS);
    await expectCounted(world, KEYS, 3);
    expect([sum(lanes, 'commitsShared'), sum(lanes, 'reconnects')]).toEqual([0, 0]);
  });

  it('leave out one that cannot recover until it can', async () => {
    const { world, start } = await open();
    const lanes = await start(undefined, { mailboxPollMs: 20 });
    await emit(lanes, KEYS);
    await world.query('ALTER TABLE tool_registry.mailbox RENAME TO mailbox_gone');
    await eventually(() => lanes.registry.counters.reconnects > 0);
    await emit(lanes, KEYS);
    expect(lanes.policy.counters.reconnects).toBe(0);
    await world.query('ALTER TABLE tool_registry.mailbox_gone RENAME TO mailbox');
    await expectCounted(world, KEYS, 2);
  });
});
