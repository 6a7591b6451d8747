import { connectClient } from '@lineclear/persistence';
import { testDatabase } from '@lineclear/test-kit';
import { expect, it } from 'vitest';
import { LaneConnection } from '../lane/connection.js';
import { loadShards, takeShards } from '../lane/takeover.js';
import { LeanRows1764400000010, MessagingTables1764400000000 } from './messaging-tables.js';

const SHARD = 3;

it('keeps the positions of a database that was made by an earlier release, there and back', async () => {
  const config = await (await testDatabase()).createDatabase();
  const client = await connectClient(config, { name: 'migrate', onError: () => undefined });
  const connection = new LaneConnection(config, 'lane');
  await connection.connect();
  const positions = async () => {
    const shards = await takeShards(connection, 'owner', [SHARD]);
    await loadShards(connection, shards, [], new Date());
    return shards[0]?.positions;
  };
  const runner = client as { query(text: string): Promise<unknown> };
  try {
    await new MessagingTables1764400000000().up(runner);
    await client.query(`UPDATE shard SET positions = '{"runs": 5, "tools": 7}' WHERE shard = ${SHARD}`);
    await new LeanRows1764400000010().up(runner);
    expect(await positions()).toEqual(
      new Map([
        ['runs', 5n],
        ['tools', 7n],
      ]),
    );
    await new LeanRows1764400000010().down(runner);
    await new LeanRows1764400000010().up(runner);
    expect(await positions()).toEqual(
      new Map([
        ['runs', 5n],
        ['tools', 7n],
      ]),
    );
  } finally {
    await connection.close();
    await client.end();
  }
});
