import { eventually, testDatabase } from '@lineclear/test-kit';
import { afterEach, describe, expect, it } from 'vitest';
import {
  add,
  COUNTER_TABLE,
  COUNTING,
  countingHandler,
  NOTE_TABLE,
  openCounterWorld,
  totalEvent,
} from '../testing/counter-service.js';
import type { TestWorld } from '../testing/test-world.js';
import type { LaneBatch } from './batch.js';
import type { LaneInput } from './input.js';
import type { Handler } from './registry.js';

const worlds: TestWorld[] = [];

afterEach(async () => {
  await Promise.all(worlds.splice(0).map((world) => world.close()));
});

async function open(): Promise<TestWorld> {
  const world = await openCounterWorld(await testDatabase());
  worlds.push(world);
  return world;
}

function busy(ms: number): void {
  const until = performance.now() + ms;
  while (performance.now() < until);
}

describe('a batch', () => {
  it('is small where deciding is slow, so that the event loop is not held up', async () => {
    const world = await open();
    const sizes: number[] = [];
    const { batch: _batch, handle, ...counting } = countingHandler([], () => busy(3));
    const measured = { ...counting, batch: true } as const;
    const handlers: Handler[] = [
      {
        ...measured,
        handle: async (inputs: readonly LaneInput[], batch: LaneBatch) => {
          sizes.push(inputs.length);
          await (handle as Extract<Handler, { batch: true }>['handle'])(inputs, batch);
        },
      },
    ];
    for (let n = 0; n < 120; n += 1) await world.publish(add(`k${n}`, 1));
    await world.startLane({ service: COUNTING, handlers });
    await eventually(async () => expect(await world.events(COUNTING)).toHaveLength(120));
    expect(Math.max(...sizes.slice(4))).toBeLessThanOrEqual(12);
  });

  it('ends at its number of inputs and bytes', async () => {
    const world = await open();
    for (let n = 0; n < 40; n += 1) await world.publish(add(`k${n}`, 1));
    const lane = await world.startLane({ service: COUNTING, handlers: [countingHandler([])], batch: { inputs: 5 } });
    await eventually(async () => expect(await world.events(COUNTING)).toHaveLength(40));
    expect(lane.counters.commits).toBeGreaterThanOrEqual(8);
  });
});

describe('statements', () => {
  it('are at most sixteen shapes, the full one and the reads, whatever batches write', async () => {
    const world = await open();
    const writer: Handler = {
      name: 'Writer',
      patterns: { commands: ['write', 'count'], timers: ['t'] },
      batch: false,
      handle: async (input, { writes, read, now }) => {
        if (input.kind !== 'command') return;
        if (input.name === 'count') {
          const rows = await read.query<{ name: string }>('SELECT name FROM pg_prepared_statements');
          return writes.answer({ ok: true, value: rows.map(({ name }) => name) });
        }
        const { key } = input;
        const bits = Number(input.payload);
        if (bits & 1) writes.put(COUNTER_TABLE, { key, total: 1, version: 1 });
        if (bits & 2) writes.insertOnce(NOTE_TABLE, { id: `n${bits}`, key, body: `b${bits}`, n: 1 });
        if (bits & 4) writes.remove(COUNTER_TABLE, { key: 'none' });
        if (bits & 8) writes.setTimer({ key, name: 't', dueAt: new Date(now.getTime() + 60_000_000) });
        if (bits & 16) writes.emit(totalEvent(key, 1));
        if (bits & 32) writes.insert(NOTE_TABLE, { id: `i${bits}-${input.id}`, key, body: input.id, n: 1 });
      },
    };
    const lane = await world.startLane({ service: COUNTING, handlers: [writer] });
    const send = (name: string, payload: unknown) =>
      lane.commands.send({ name, key: 'a', tenant: 'acme', payload, by: null });
    for (let round = 0; round < 4; round += 1) for (let bits = 0; bits < 64; bits += 3) await send('write', bits);
    const answer = await send('count', null);
    const names = answer.ok ? (answer.value as string[]) : [];
    expect(names.filter((name) => /^s\d+$/.test(name))).toHaveLength(16);
    expect(names.filter((name) => name.startsWith('full')).length).toBeGreaterThan(0);
    expect(lane.counters).toMatchObject({ failures: 0, bisections: 0 });
  });
});
