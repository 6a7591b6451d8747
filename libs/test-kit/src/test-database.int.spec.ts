import { connectClient, type DatabaseConfig } from '@lineclear/persistence';
import { describe, expect, it } from 'vitest';
import { testDatabase } from './test-database.js';

async function query<T extends object>(config: DatabaseConfig, text: string): Promise<T[]> {
  const client = await connectClient(config, { name: 'test', onError: () => undefined });
  try {
    return (await client.query<T>(text)).rows;
  } finally {
    await client.end();
  }
}

describe('testDatabase', () => {
  it('gives every caller the same server and another database', async () => {
    const [one, two] = await Promise.all([testDatabase(), testDatabase()]);
    expect(one).toBe(two);
    const [a, b] = await Promise.all([one.createDatabase(), two.createDatabase()]);
    await query(a, 'CREATE TABLE t (n int)');
    expect(await query(b, "SELECT to_regclass('t') AS t")).toEqual([{ t: null }]);
  });

  it('copies a template that is prepared once', async () => {
    const server = await testDatabase();
    let prepared = 0;
    const prepare = async (config: DatabaseConfig) => {
      prepared += 1;
      await query(config, 'CREATE TABLE t AS SELECT 7 AS n');
    };
    await Promise.all([server.template('seven', prepare), server.template('seven', prepare)]);
    const copies = await Promise.all([1, 2, 3].map(() => server.createDatabase({ template: 'seven' })));
    await query(copies[0] ?? server.admin, 'UPDATE t SET n = 8');
    expect(await query(copies[1] ?? server.admin, 'SELECT n FROM t')).toEqual([{ n: 7 }]);
    expect(prepared).toBe(1);
  });

  it('connects into the schema that was asked for', async () => {
    const config = await (await testDatabase()).createDatabase({ schema: 'runs' });
    expect(await query(config, 'SELECT current_schema() AS s')).toEqual([{ s: 'runs' }]);
  });
});
