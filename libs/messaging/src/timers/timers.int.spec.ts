import { eventually, testDatabase } from '@lineclear/test-kit';
import { afterEach, describe, expect, it } from 'vitest';
import type { CommandInput, TimerInput } from '../lane/input.js';
import type { Handler } from '../lane/registry.js';
import { COUNTING, openCounterWorld } from '../testing/counter-service.js';
import type { TestWorld } from '../testing/test-world.js';

const worlds: TestWorld[] = [];

afterEach(async () => {
  await Promise.all(worlds.splice(0).map((world) => world.close()));
});

interface Order {
  readonly name: string;
  readonly afterMs?: number;
  readonly clears?: string;
}

function timekeeper(fired: { input: TimerInput; at: Date }[], fails: () => boolean = () => false): Handler {
  return {
    name: 'Timekeeper',
    patterns: { commands: ['set'], timers: ['t', 'u', 'again'] },
    batch: false,
    handle: (input, { writes, now }) => {
      if (input.kind === 'timer') {
        if (fails()) throw new TypeError('a bug');
        fired.push({ input, at: now });
        if (input.name === 'again' && fired.length < 3)
          writes.setTimer({
            key: input.key,
            name: 'again',
            dueAt: new Date(now.getTime() + 20),
            payload: fired.length,
          });
      }
      if (input.kind !== 'command') return;
      const { payload, key } = input as CommandInput<Order>;
      if (payload.clears !== undefined) writes.clearTimer(key, payload.clears);
      if (payload.afterMs === undefined) return;
      const dueAt = new Date(now.getTime() + payload.afterMs);
      writes.setTimer({ key, name: payload.name, dueAt, payload: payload.afterMs });
    },
  };
}

async function start(handler: Handler, world?: TestWorld) {
  const opened = world ?? (await openCounterWorld(await testDatabase()));
  if (world === undefined) worlds.push(opened);
  const lane = await opened.startLane({ service: COUNTING, handlers: [handler] });
  const send = (order: Order) =>
    lane.commands.send({ name: 'set', key: 'a', tenant: 'acme', payload: order, by: null });
  return { world: opened, send };
}

const rows = (world: TestWorld) => world.query('SELECT name FROM tool_registry.timer');

describe('a timer', () => {
  it('fires once it is due on the clock of the database, and its row goes', async () => {
    const fired: { input: TimerInput; at: Date }[] = [];
    const { world, send } = await start(timekeeper(fired));
    await send({ name: 't', afterMs: 50 });
    await eventually(() => fired.length === 1);
    const [first] = fired;
    expect(first?.input).toMatchObject({ kind: 'timer', name: 't', key: 'a', payload: 50 });
    expect(first?.at.getTime()).toBeGreaterThanOrEqual(first?.input.dueAt.getTime() ?? 0);
    await eventually(async () => expect(await rows(world)).toEqual([]));
  });

  it('moves when it is set again, and does not fire when it is cleared', async () => {
    const fired: { input: TimerInput; at: Date }[] = [];
    const { world, send } = await start(timekeeper(fired));
    await send({ name: 't', afterMs: 60_000_000 });
    await send({ name: 'u', afterMs: 100 });
    await send({ name: 't', afterMs: 150, clears: 'u' });
    await eventually(() => fired.length === 1);
    expect(fired.map(({ input }) => input.name)).toEqual(['t']);
    expect(await rows(world)).toEqual([]);
  });

  it('may set itself again', async () => {
    const fired: { input: TimerInput; at: Date }[] = [];
    const { world, send } = await start(timekeeper(fired));
    await send({ name: 'again', afterMs: 1 });
    await eventually(() => fired.length === 3);
    expect(fired.map(({ input }) => input.payload)).toEqual([1, 1, 2]);
    await eventually(async () => expect(await rows(world)).toEqual([]));
  });

  it('fires after a crash, late but not lost', async () => {
    const fired: { input: TimerInput; at: Date }[] = [];
    const { world, send } = await start(timekeeper(fired));
    await send({ name: 't', afterMs: 300 });
    await world.crash();
    await start(timekeeper(fired), world);
    await eventually(() => fired.length === 1);
    expect(fired[0]?.input.dueAt.getTime()).toBeLessThanOrEqual(fired[0]?.at.getTime() ?? 0);
  });

  it('is tried again when its handler fails', async () => {
    const fired: { input: TimerInput; at: Date }[] = [];
    let failures = 2;
    const { send } = await start(timekeeper(fired, () => (failures -= 1) >= 0));
    await send({ name: 't', afterMs: 1 });
    await eventually(() => fired.length === 1);
    expect(failures).toBe(-1);
  });
});
