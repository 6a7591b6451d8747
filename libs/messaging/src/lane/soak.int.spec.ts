import { eventually, testDatabase } from '@lineclear/test-kit';
import { TransientError } from '@lineclear/errors';
import { afterEach, describe, expect, it } from 'vitest';
import { FaultInjector } from '../bus/embedded/injector.js';
import { seededRandom } from '../bus/embedded/seeded-random.js';
import { add, COUNTING, counters, countingHandler, openCounterWorld, type Twist } from '../testing/counter-service.js';
import type { TestWorld } from '../testing/test-world.js';
import type { Handler } from './registry.js';

const KEYS = Array.from({ length: 12 }, (_, index) => `key-${index}`);
const EVENTS = 240;
const worlds: TestWorld[] = [];

afterEach(async () => {
  await Promise.all(worlds.splice(0).map((world) => world.close()));
});

/** Fails now and then for reasons that pass, in each way that a handler can fail. */
function shaky(random: () => number): Twist {
  return () => {
    const drawn = random();
    if (drawn < 0.03) throw new TransientError('unavailable', 'not now');
    if (drawn < 0.04) throw new TransientError('database-unavailable', 'the database of the handler is away');
  };
}

/** Ends the lane's session, whatever it is doing. */
async function endSession(world: TestWorld): Promise<void> {
  await world.query(
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'tool-registry lane' AND datname = current_database()`,
  );
}

/** Order of a key's messages as they were applied, told by the running totals. */
async function isSteadilyGrowing(world: TestWorld): Promise<boolean> {
  const last = new Map<string, number>();
  for (const { subject, data } of await world.events(COUNTING)) {
    const { n } = data as { n: number };
    if (n <= (last.get(subject) ?? 0)) return false;
    last.set(subject, n);
  }
  return true;
}

describe.each([1, 2, 3])('under faults drawn from seed %i', (seed) => {
  it('applies every event once, in order, over crashes and lost sessions, with no gap in the log', async () => {
    const random = seededRandom(seed);
    const injectors: FaultInjector[] = [];
    const wrap = (bus: ConstructorParameters<typeof FaultInjector>[0]) => {
      const injector = new FaultInjector(bus, { seed: seed + injectors.length, duplicate: 0.2, rollback: 0.05 });
      injectors.push(injector);
      return injector;
    };
    const world = await openCounterWorld(await testDatabase(), { wrap });
    worlds.push(world);
    const { patterns, ...counting } = countingHandler([], shaky(random));
    const handler = { ...counting, patterns: { ...patterns, inbox: 'counting' } } as Handler;
    const start = () => world.startLane({ service: COUNTING, handlers: [handler], random: () => random() * 0.1 });
    await start();
    const sums = new Map<string, number>();
    for (let sent = 0; sent < EVENTS; sent += 1) {
      const key = KEYS[Math.floor(random() * KEYS.length)] ?? '';
      const n = 1 + Math.floor(random() * 9);
      sums.set(key, (sums.get(key) ?? 0) + n);
      await world.publish(add(key, n));
      if (sent % 37 === 36) await endSession(world);
      if (sent % 80 !== 79) continue;
      await world.crash();
      await start();
    }
    const expected = Object.fromEntries(sums);
    const totals = async () =>
      Object.fromEntries(Object.entries(await counters(world)).map(([key, { total }]) => [key, total]));
    await eventually(async () => expect(await totals()).toEqual(expected), { timeoutMs: 25_000 });
    expect(await world.events(COUNTING)).toHaveLength(EVENTS);
    expect(await isSteadilyGrowing(world)).toBe(true);
    const gaps = await world.query(
      `SELECT topic FROM tool_registry.outbox GROUP BY topic, partition HAVING max("offset") <> count(*) - 1 OR min("offset") <> 0`,
    );
    expect(gaps).toEqual([]);
    const counts = injectors.map(({ counts }) => counts);
    expect(Math.max(...counts.map(({ duplicates }) => duplicates))).toBeGreaterThan(0);
    expect(await world.query('SELECT 1 FROM tool_registry.held')).toEqual([]);
  }, 60_000);
});
