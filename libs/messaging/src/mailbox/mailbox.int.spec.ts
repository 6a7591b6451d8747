import { shardOf } from '@lineclear/contracts';
import { eventually, testDatabase } from '@lineclear/test-kit';
import { NotFoundError } from '@lineclear/errors';
import { afterEach, describe, expect, it } from 'vitest';
import type { CommandInput } from '../lane/input.js';
import type { Handler } from '../lane/registry.js';
import { COUNTING, openCounterWorld, totalEvent } from '../testing/counter-service.js';
import { ManualBus } from '../testing/manual-bus.js';
import type { TestWorld } from '../testing/test-world.js';

const worlds: TestWorld[] = [];

afterEach(async () => {
  await Promise.all(worlds.splice(0).map((world) => world.close()));
});

async function open(): Promise<TestWorld> {
  const world = await openCounterWorld(await testDatabase());
  worlds.push(world);
  return world;
}

function clerk(taken: CommandInput[]): Handler {
  return {
    name: 'Clerk',
    patterns: { commands: ['echo', 'pass', 'refuse', 'emit'] },
    batch: false,
    handle: (input, { writes }) => {
      if (input.kind !== 'command') return;
      taken.push(input);
      const { name, payload, tenant } = input;
      if (name === 'refuse') throw new NotFoundError('no such thing');
      if (name === 'echo') writes.answer({ ok: true, value: payload });
      if (name === 'pass')
        writes.send({ id: `passed-${input.id}`, name: 'echo', key: String(payload), tenant, payload: 1, by: null });
      if (name === 'emit') writes.emit(totalEvent(String(payload), 1));
    },
  };
}

const command = (name: string, payload: unknown, id?: string) => ({
  name,
  key: 'a',
  tenant: 'acme',
  payload,
  by: null,
  ...(id === undefined ? {} : { id }),
});

describe('a command', () => {
  it('is answered by the statement of its owner', async () => {
    const world = await open();
    const lane = await world.startLane({ service: COUNTING, handlers: [clerk([])] });
    expect(await lane.commands.send(command('echo', { a: [1] }))).toEqual({ ok: true, value: { a: [1] } });
    const [row] = await world.query('SELECT result FROM tool_registry.mailbox');
    expect(row).toEqual({ result: '{"ok":true,"value":{"a":[1]}}' });
  });

  it('with a known id is taken once, and every sender gets the one answer', async () => {
    const world = await open();
    const taken: CommandInput[] = [];
    const lane = await world.startLane({ service: COUNTING, handlers: [clerk(taken)] });
    const answers = await Promise.all([1, 2, 3].map((n) => lane.commands.send(command('echo', n, 'same'))));
    answers.push(await lane.commands.send(command('echo', 4, 'same')));
    expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1);
    expect(taken).toHaveLength(1);
  });

  it('that its handler refuses is answered with the failure, at once', async () => {
    const world = await open();
    const taken: CommandInput[] = [];
    const lane = await world.startLane({ service: COUNTING, handlers: [clerk(taken)] });
    expect(await lane.commands.send(command('refuse', null))).toMatchObject({
      ok: false,
      failure: { code: 'not-found' },
    });
    expect(await lane.commands.send(command('unheard', null))).toMatchObject({
      ok: false,
      failure: { code: 'not-found' },
    });
    expect(taken).toHaveLength(1);
  });

  it('is told to be late when nobody answers, and is still done by the next owner', async () => {
    const world = await open();
    const bus = new ManualBus();
    const taken: CommandInput[] = [];
    const lane = await world.startLane({ service: COUNTING, bus, handlers: [clerk(taken)] });
    await expect(lane.commands.send(command('echo', 1), { waitMs: 50 })).rejects.toMatchObject({ code: 'timed-out' });
    await bus.sink.assigned([shardOf('a')]);
    await eventually(() => taken.length === 1);
  });

  it('reaches the owner in another process, and its answer comes back', async () => {
    const world = await open();
    const [here, there] = [new ManualBus(), new ManualBus()];
    const lane = await world.startLane({ service: COUNTING, bus: here, handlers: [clerk([])] });
    const taken: CommandInput[] = [];
    await world.startLane({ service: COUNTING, bus: there, handlers: [clerk(taken)] });
    await there.sink.assigned([shardOf('a')]);
    expect(await lane.commands.send(command('echo', 5))).toEqual({ ok: true, value: 5 });
    expect(taken).toHaveLength(1);
  });

  it('is sent on to the owner of another key', async () => {
    const world = await open();
    const taken: CommandInput[] = [];
    const lane = await world.startLane({ service: COUNTING, handlers: [clerk(taken)] });
    await lane.commands.send(command('pass', 'elsewhere'));
    await eventually(() => taken.length === 2);
    expect(taken[1]).toMatchObject({ name: 'echo', key: 'elsewhere', payload: 1 });
  });

  it('that a lane read twice is done once', async () => {
    const world = await open();
    const bus = new ManualBus();
    const taken: CommandInput[] = [];
    const lane = await world.startLane({ service: COUNTING, bus, mailboxPollMs: 1, handlers: [clerk(taken)] });
    await bus.sink.assigned([shardOf('a')]);
    for (let n = 0; n < 50; n += 1) await lane.commands.send(command('echo', n));
    const [row] = await world.query<{ open: number }>(
      'SELECT count(*)::int AS open FROM tool_registry.mailbox WHERE result IS NULL',
    );
    expect(row).toEqual({ open: 0 });
    expect(taken.map(({ payload }) => payload)).toEqual(Array.from({ length: 50 }, (_, n) => n));
  });
});

describe('an event for another shard', () => {
  it('is appended by that shard’s owner, in this process or through the mailbox', async () => {
    const world = await open();
    const [here, there] = [new ManualBus(), new ManualBus()];
    const lane = await world.startLane({ service: COUNTING, bus: here, handlers: [clerk([])] });
    await world.startLane({ service: COUNTING, bus: there, handlers: [clerk([])] });
    await here.sink.assigned([shardOf('a'), shardOf('near')]);
    await there.sink.assigned([shardOf('far')]);
    expect(new Set([shardOf('a'), shardOf('near'), shardOf('far')]).size).toBe(3);
    await lane.commands.send(command('emit', 'near'));
    await lane.commands.send(command('emit', 'far'));
    await eventually(async () => expect(await world.events(COUNTING)).toHaveLength(2));
    expect(here.told.appended.map(({ key }) => key)).toEqual(['near']);
    expect(there.told.appended.map(({ key }) => key)).toEqual(['far']);
  });
});
