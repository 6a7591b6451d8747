import type { EventData } from '@lineclear/contracts';
import { eventually, testDatabase } from '@lineclear/test-kit';
import { afterEach, describe, expect, it } from 'vitest';
import { TestWorld } from '../testing/test-world.js';
import type { Handler } from './registry.js';

const worlds: TestWorld[] = [];

async function open() {
  const database = await (await testDatabase()).createDatabase();
  const world = await TestWorld.open({ database, services: ['policy-engine'] });
  worlds.push(world);
  await world.databaseOf('policy-engine');
  return world;
}

afterEach(async () => {
  await Promise.all(worlds.splice(0).map((world) => world.close()));
});

const GRANT: EventData<'approval.granted'> = {} as EventData<'approval.granted'>;

describe('a lane', () => {
  it('handles an event and appends another', async () => {
    const world = await open();
    const seen: string[] = [];
    const handlers: Handler[] = [
      {
        name: 'test',
        patterns: { events: ['tool.updated'], commands: ['ping'] },
        batch: true,
        handle: async (inputs, batch) => {
          for (const input of inputs)
            batch.attempt(input, (writes) => {
              seen.push(input.id);
              if (input.kind === 'command') writes.answer({ ok: true, value: input.payload });
              writes.emit({
                name: 'policy-set.activated',
                key: input.key,
                tenant: 'acme',
                data: { version: 1, notBeforeVersion: 1, hash: 'x' } as never,
              });
            });
        },
      },
    ];
    const lane = await world.startLane({ service: 'policy-engine', handlers });
    await eventually(() => lane.reasons().length === 0);
    const answer = await lane.commands.send({ name: 'ping', key: 'k1', tenant: 'acme', payload: { a: 1 }, by: null });
    expect(answer).toEqual({ ok: true, value: { a: 1 } });
    expect(await world.waitFor('policy-engine', 'policy-set.activated')).toMatchObject({ subject: 'k1', offset: 0 });
    void GRANT;
  });
});
