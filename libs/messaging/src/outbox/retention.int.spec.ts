import { eventually, testDatabase } from '@lineclear/test-kit';
import { afterEach, describe, expect, it } from 'vitest';
import { SILENT } from '../lane/log.js';
import { SidePool } from '../lane/side-pool.js';
import { add, COUNTING, countingHandler, openCounterWorld } from '../testing/counter-service.js';
import type { TestWorld } from '../testing/test-world.js';
import { Retention } from './retention.js';

const DAY_MS = 86_400_000;
const closing: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

async function setUp(readTo: (partition: number) => bigint | undefined) {
  const world = await openCounterWorld(await testDatabase());
  closing.push(() => world.close());
  const pool = new SidePool(await world.databaseOf(COUNTING), 'retention', 1);
  closing.push(() => pool.end());
  const options = { pool, log: SILENT, logDays: 7, dedupeDays: 14 };
  return { world, retention: new Retention({ ...options, readTo: (_topic, partition) => readTo(partition) }) };
}

async function count(world: TestWorld): Promise<number> {
  await world.startLane({ service: COUNTING, handlers: [countingHandler([])] });
  const before = (await world.events(COUNTING)).length;
  for (const n of [1, 2]) await world.publish(add('a', n));
  await eventually(async () => expect((await world.events(COUNTING)).length).toBe(before + 2));
  return before;
}

describe('retention', () => {
  it('drops the days of the log that are old and read, and heads go on where they were', async () => {
    const { world, retention } = await setUp(() => 2n);
    await count(world);
    expect(await retention.run(Date.now())).toEqual([]);
    const today = Math.floor(Date.now() / DAY_MS);
    const dropped = await retention.run(Date.now() + 8 * DAY_MS);
    expect(dropped[0]).toBe(`outbox_${today}`);
    expect(await world.events(COUNTING)).toEqual([]);
    await world.crash();
    await count(world);
    expect((await world.events(COUNTING)).map(({ offset, data }) => [offset, data])).toMatchObject([
      [2, { n: 4 }],
      [3, { n: 6 }],
    ]);
  });

  it.each([
    ['was not read to its end', 1n],
    ['has a reader that is not known', undefined],
  ])('keeps a day that %s', async (_name, position) => {
    const { world, retention } = await setUp(() => position);
    await count(world);
    expect(await retention.run(Date.now() + 30 * DAY_MS)).toEqual([]);
    expect(await world.events(COUNTING)).toHaveLength(2);
  });

  it('forgets answered commands, inbox rows and drop marks only when they are old', async () => {
    const { world, retention } = await setUp(() => undefined);
    for (const age of ['1 day', '15 days']) {
      await world.query(`INSERT INTO tool_registry.inbox VALUES ('c', 's', $1::text, now() - $1::text::interval)`, [
        age,
      ]);
      await world.query(
        `INSERT INTO tool_registry.mailbox (id, shard, kind, name, key, tenant, payload, result, answered_at)
         VALUES ($1::text, 0, 'command', 'n', 'k', 't', '1', '{}', now() - $1::text::interval)`,
        [age],
      );
      await world.query(
        `INSERT INTO tool_registry.drop_mark VALUES ('s', $1::text, 0, 'k', 'b', 'r', now() - $1::text::interval)`,
        [age],
      );
    }
    await retention.run(Date.now());
    for (const table of ['inbox', 'mailbox', 'drop_mark'])
      expect(await world.query(`SELECT id FROM tool_registry.${table}`)).toEqual([{ id: '1 day' }]);
  });
});
