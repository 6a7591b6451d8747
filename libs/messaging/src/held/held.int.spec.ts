import type { EventName } from '@lineclear/contracts';
import { eventually, testDatabase } from '@lineclear/test-kit';
import { InvalidMessageError, TransientError } from '@lineclear/errors';
import { afterEach, describe, expect, it } from 'vitest';
import type { DroppedInput, EventInput, LaneInput } from '../lane/input.js';
import type { Handler } from '../lane/registry.js';
import { add, COUNTING, counters, countingHandler, openCounterWorld, stop } from '../testing/counter-service.js';
import type { TestWorld } from '../testing/test-world.js';
import { DROP_HELD, REDRIVE_HELD } from './held-commands.js';

const worlds: TestWorld[] = [];

afterEach(async () => {
  await Promise.all(worlds.splice(0).map((world) => world.close()));
});

const hashOf = (input: LaneInput) => (input as EventInput<'policy-set.activated'>).event.data.hash;

/** Fails what its `hash` says, until the test repairs it. */
class Faults {
  readonly attempts = new Map<string, number>();
  readonly repaired = new Set<string>();

  readonly twist = (input: LaneInput): void => {
    const hash = hashOf(input);
    if (hash === 'ok' || this.repaired.has(hash)) return;
    this.attempts.set(hash, (this.attempts.get(hash) ?? 0) + 1);
    if (hash.startsWith('transient')) throw new TransientError('unavailable', 'not now');
    if (hash.startsWith('invalid')) throw new InvalidMessageError('invalid-message', 'never');
    throw new TypeError('a bug');
  };
}

interface Options {
  readonly world?: TestWorld;
  readonly passesHeld?: Handler['patterns']['passesHeld'];
  readonly onDrop?: (input: DroppedInput) => void;
}

async function start({ random = () => 0, ...options }: Options & { readonly random?: () => number } = {}) {
  const world = options.world ?? (await openCounterWorld(await testDatabase()));
  if (options.world === undefined) worlds.push(world);
  const faults = new Faults();
  const handled: LaneInput[] = [];
  const others: LaneInput[] = [];
  const { patterns, ...counting } = countingHandler(handled, faults.twist);
  const dropped: EventName[] = ['policy-set.activated'];
  const handlers: Handler[] = [
    {
      ...counting,
      patterns: { ...patterns, ...(options.passesHeld && { passesHeld: options.passesHeld }) },
    } as Handler,
    {
      name: 'Others',
      patterns: { events: ['run.stop-started'], commands: ['mark', 'timer'], timers: ['t'], dropped },
      batch: false,
      handle: (input, { writes, now }) => {
        others.push(input);
        if (input.kind === 'dropped') options.onDrop?.(input);
        if (input.kind === 'command' && input.name === 'timer')
          writes.setTimer({ key: input.key, name: 't', dueAt: now });
      },
    },
  ];
  const lane = await world.startLane({ service: COUNTING, handlers, random });
  const send = (name: string, key: string, payload: unknown) =>
    lane.commands.send({
      name,
      key,
      tenant: 'acme',
      payload,
      by: { tenant: 'acme', subject: 'olga', roles: [], scopes: [] },
    });
  return { world, lane, faults, handled, others, send };
}

interface Row {
  readonly held_id: string;
  readonly key: string;
  readonly state: string;
  readonly attempts: number;
}

const rows = (world: TestWorld) =>
  world.query<Row>('SELECT held_id, key, state, attempts FROM tool_registry.held ORDER BY key, n');

async function parked(world: TestWorld): Promise<Row> {
  return await eventually(async () => (await rows(world)).find(({ state }) => state === 'parked') ?? false);
}

describe('a message that fails', () => {
  it('is tried again with its key held behind it, in order, while other keys go on', async () => {
    const { world, faults, handled } = await start({ random: () => 0.5 });
    await world.publish(add('a', 1, 'transient'));
    await eventually(() => (faults.attempts.get('transient') ?? 0) > 1);
    await world.publish(add('a', 10));
    await world.publish(add('b', 1));
    await world.waitFor(COUNTING, ({ subject }) => subject === 'b');
    expect(await counters(world)).toEqual({ b: { total: 1, version: 1 } });
    faults.repaired.add('transient');
    const row = await eventually(async () => (await rows(world)).length === 0 || (await parkedNow(world)));
    if (row !== true) throw new Error('parked before it was repaired');
    expect(await counters(world)).toMatchObject({ a: { total: 11, version: 2 } });
    expect(handled.filter(({ key }) => key === 'a').map(hashOf)).toEqual(['transient', 'ok']);
  });

  async function parkedNow(world: TestWorld): Promise<false | Row> {
    return (await rows(world)).find(({ state }) => state === 'parked') ?? false;
  }

  it('S08: is parked after a few tries when it is a bug, with its failure and without a word of it', async () => {
    const { world, faults } = await start();
    await world.publish(add('a', 1, 'bug'));
    expect(await parked(world)).toMatchObject({ key: 'a', attempts: 4 });
    expect(faults.attempts.get('bug')).toBe(4);
    const [row] = await world.query<{ failure: string }>('SELECT failure FROM tool_registry.held');
    expect(JSON.parse(row?.failure ?? '')).toMatchObject({ code: 'internal', retryable: true });
    expect(row?.failure).not.toContain('a bug');
  });

  it('is parked at once when it can never be accepted', async () => {
    const { world, faults } = await start();
    await world.publish(add('a', 1, 'invalid'));
    expect(await parked(world)).toMatchObject({ attempts: 1 });
    expect(faults.attempts.get('invalid')).toBe(1);
  });

  it.each([
    ['schema', { value: '{"set":"a","version":"one"}' }, 'invalid-message'],
    ['JSON', { value: '{' }, 'invalid-message'],
    ['tombstone', { value: null }, 'invalid-message'],
    ['headers', { headers: { ce_specversion: '1.0', ce_subject: 'a' } }, 'invalid-message'],
    ['type', { headers: { ce_type: 'lineclear.policy-set.activated.v2' } }, 'unknown-type'],
  ])('is parked at once for its %s', async (_what, change, code) => {
    const { world } = await start();
    await world.publish(add('b', 1));
    const [row] = await world.query<{ headers: string }>('SELECT headers FROM outside.outbox');
    const headers = { ...(JSON.parse(row?.headers ?? '{}') as Record<string, string>), ce_id: 'x', ce_subject: 'a' };
    const changed = { topic: 'policies', key: 'a', value: '{}', ...change } as const;
    const given =
      'headers' in change && !('ce_type' in change.headers)
        ? change.headers
        : { ...headers, ...('headers' in change ? change.headers : {}) };
    await world.publishRaw({ ...changed, headers: given as Record<string, string> });
    await parked(world);
    const held = await world.query('SELECT key, code FROM tool_registry.held');
    expect(held).toEqual([{ key: 'a', code }]);
    await world.publish(add('c', 1));
    await world.waitFor(COUNTING, ({ subject }) => subject === 'c');
  });

  it('that nobody here needs to know is skipped', async () => {
    const { world, lane } = await start();
    const [data] = [{ callId: 'c', turn: 1, index: 0, round: 1, stage: 'first', reason: 'budget' }];
    await world.publish({ name: 'tool-call.refused', key: 'a', tenant: 'acme', data: data as never });
    await world.publish(add('b', 1));
    await world.waitFor(COUNTING, ({ subject }) => subject === 'b');
    expect(lane.counters.held).toBe(0);
  });
});

describe('a held key', () => {
  it('lets timers, commands and run.stop-started pass, and what its handler lets pass', async () => {
    const passesHeld = (input: EventInput) => hashOf(input) === 'pass';
    const { world, send, others, handled, faults } = await start({ passesHeld });
    faults.repaired.add('pass');
    await world.publish(add('a', 1, 'bug'));
    await parked(world);
    await world.publish(add('a', 2));
    await world.publish(add('a', 4, 'pass'));
    await send('mark', 'a', null);
    await send('timer', 'a', null);
    await world.publish(stop('a', 1));
    await eventually(() => expect(others.map(({ kind }) => kind)).toEqual(expect.arrayContaining(['timer', 'event'])));
    await eventually(() => handled.length === 1);
    expect(handled.map(hashOf)).toEqual(['pass']);
    expect(await rows(world)).toMatchObject([{ state: 'parked' }, { state: 'waiting' }]);
  });

  it('is redriven by its owner: the first, then those behind it', async () => {
    const { world, faults, send, handled } = await start();
    await world.publish(add('a', 1, 'bug'));
    const row = await parked(world);
    for (const n of [2, 3]) await world.publish(add('a', n));
    await eventually(async () => expect(await rows(world)).toHaveLength(3));
    faults.repaired.add('bug');
    expect(await send(REDRIVE_HELD, 'a', { heldId: row.held_id })).toEqual({ ok: true, value: null });
    await eventually(async () => expect(await rows(world)).toEqual([]));
    expect(handled.map((input) => (input as EventInput).redriven)).toEqual([true, true, true]);
    expect(await counters(world)).toEqual({ a: { total: 6, version: 3 } });
    await world.publish(add('a', 4));
    await eventually(async () => expect(await counters(world)).toEqual({ a: { total: 10, version: 4 } }));
  });

  it('is free once its message is dropped; the drop is answered, and a redelivery of it does nothing', async () => {
    const drops: DroppedInput[] = [];
    const { world, send, handled } = await start({ onDrop: (input) => drops.push(input) });
    const id = await world.publish(add('a', 1, 'bug'));
    const row = await parked(world);
    await world.publish(add('a', 2));
    expect(await send(DROP_HELD, 'a', { heldId: row.held_id, reason: 'no use' })).toEqual({ ok: true, value: null });
    await world.waitFor(COUNTING, 'run.fenced');
    expect(drops).toMatchObject([{ name: 'policy-set.activated', id, by: 'olga', reason: 'no use' }]);
    await world.publish(add('a', 1, 'bug'), { id });
    await world.publish(add('a', 5));
    await eventually(async () => expect(await counters(world)).toEqual({ a: { total: 7, version: 2 } }));
    expect(handled.map(hashOf)).toEqual(['ok', 'ok']);
    expect(await world.query('SELECT by, reason FROM tool_registry.drop_mark')).toEqual([
      { by: 'olga', reason: 'no use' },
    ]);
  });

  it('refuses to drop what is not there, and to redrive what is not first', async () => {
    const { world, send } = await start();
    await world.publish(add('a', 1, 'bug'));
    await parked(world);
    await world.publish(add('a', 2));
    await eventually(async () => expect(await rows(world)).toHaveLength(2));
    const second = (await rows(world))[1];
    expect(await send(DROP_HELD, 'a', { heldId: 'none', reason: '' })).toMatchObject({
      failure: { code: 'not-found' },
    });
    expect(await send(REDRIVE_HELD, 'a', { heldId: second?.held_id })).toMatchObject({
      failure: { code: 'invariant-violated' },
    });
  });

  it('takes a message once, however often it is delivered', async () => {
    const { world } = await start();
    const id = await world.publish(add('a', 1, 'bug'));
    await parked(world);
    await world.publish(add('a', 1, 'bug'), { id });
    await world.publish(add('b', 1));
    await world.waitFor(COUNTING, ({ subject }) => subject === 'b');
    expect(await rows(world)).toHaveLength(1);
  });

  it('stays held over a crash, and goes on from there', async () => {
    const { world } = await start();
    await world.publish(add('a', 1, 'bug'));
    const row = await parked(world);
    await world.publish(add('a', 2));
    await world.crash();
    const next = await start({ world });
    await world.publish(add('a', 3));
    await eventually(async () => expect(await rows(world)).toHaveLength(3));
    next.faults.repaired.add('bug');
    await next.send(REDRIVE_HELD, 'a', { heldId: row.held_id });
    await eventually(async () => expect(await counters(world)).toEqual({ a: { total: 6, version: 3 } }));
  });
});

describe('trouble that is not of a message', () => {
  it('pauses the lane when more than half of the keys fail, and parks none of them', async () => {
    const { world, lane, faults } = await start();
    for (let index = 0; index < 30; index += 1) await world.publish(add(`k${index}`, 1, 'bug'));
    await eventually(() => lane.counters.pauses > 0);
    expect(lane.reasons().join()).toContain('paused');
    expect(lane.counters.parked).toBe(0);
    faults.repaired.add('bug');
    await eventually(async () => expect(Object.keys(await counters(world))).toHaveLength(30), { timeoutMs: 20_000 });
    expect(lane.reasons()).toEqual([]);
  });
});
