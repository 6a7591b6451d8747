import { randomUUID } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { MigrationInterface, QueryRunner } from 'typeorm';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { connectClient } from './client.js';
import { createDataSource, migrate } from './data-source.js';
import { type DatabaseConfig, parseDatabaseUrl } from './database-config.js';
import { toDatabaseError } from './database-error.js';
import { type EmbeddedPostgres, startTemporaryPostgres } from './embedded/embedded-postgres.js';
import { claimDatabase, readInstallationId } from './installation.js';
import { holdInstanceLock } from './instance-lock.js';
import { provisionServiceDatabase } from './provision.js';

let server: EmbeddedPostgres;
let admin: DatabaseConfig;

beforeAll(async () => {
  server = await startTemporaryPostgres({ fsync: false });
  admin = parseDatabaseUrl(server.url);
});

afterAll(() => server.stop());

async function query(config: DatabaseConfig, text: string, values: unknown[] = []): Promise<unknown[]> {
  const client = await connectClient(config, { name: 'test', onError: () => undefined });
  try {
    return (await client.query(text, values)).rows;
  } finally {
    await client.end();
  }
}

async function newDatabase(): Promise<DatabaseConfig> {
  const database = `db_${randomUUID().replaceAll('-', '')}`;
  await query(admin, `CREATE DATABASE ${database}`);
  return { ...admin, database };
}

class First1764400000001 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query('SELECT pg_sleep(0.1)');
    await runner.query('CREATE TABLE first (n int)');
  }

  async down(): Promise<void> {}
}

class Broken1764400000002 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query('CREATE TABLE second (n int)');
    await runner.query('SELECT 1 / 0');
  }

  async down(): Promise<void> {}
}

describe('provisionServiceDatabase', () => {
  it('gives each service a schema that the other cannot read', async () => {
    const database = await newDatabase();
    const [runs, tools] = await Promise.all([
      provisionServiceDatabase(database, { schema: 'orchestrator' }),
      provisionServiceDatabase(database, { schema: 'tool_registry' }),
    ]);
    await query(runs, 'CREATE TABLE run AS SELECT 1 AS n');
    expect(await query(runs, 'SELECT n FROM orchestrator.run')).toEqual([{ n: 1 }]);
    await expect(query(tools, 'SELECT n FROM orchestrator.run')).rejects.toThrow(
      'permission denied for schema orchestrator',
    );
    await expect(query(tools, 'CREATE TABLE orchestrator.x (n int)')).rejects.toThrow('permission denied');
    await expect(query(tools, 'CREATE ROLE other')).rejects.toThrow('permission denied');
  });

  it('sets the search path of the role too, for connections that are not ours', async () => {
    const service = await provisionServiceDatabase(await newDatabase(), { schema: 'orchestrator' });
    expect(await query(service, "SELECT setting, source FROM pg_settings WHERE name = 'search_path'")).toEqual([
      { setting: 'orchestrator', source: 'client' },
    ]);
    const roles = await query(
      admin,
      'SELECT setconfig FROM pg_db_role_setting JOIN pg_roles r ON r.oid = setrole WHERE rolname = $1',
      [service.user],
    );
    expect(roles).toEqual([{ setconfig: ['search_path=orchestrator'] }]);
  });

  it('may be repeated, also at once, and keeps the password', async () => {
    const database = await newDatabase();
    const first = await provisionServiceDatabase(database, { schema: 'orchestrator' });
    const again = await Promise.all(
      [1, 2, 3].map(() => provisionServiceDatabase(database, { schema: 'orchestrator' })),
    );
    expect(again).toEqual([first, first, first]);
    expect(first.password).not.toBe(admin.password);
    expect(await query(first, 'SELECT 1 AS n')).toEqual([{ n: 1 }]);
  });

  it('works for an administrator who is no superuser', async () => {
    const database = await newDatabase();
    const user = `admin_${randomUUID().slice(0, 8)}`;
    await query(admin, `CREATE ROLE ${user} LOGIN CREATEROLE PASSWORD 'pw'`);
    await query(database, `GRANT CREATE ON DATABASE ${database.database} TO ${user}`);
    const plain = { ...database, user, password: 'pw' };
    const service = await provisionServiceDatabase(plain, { schema: 'orchestrator' });
    await provisionServiceDatabase(plain, { schema: 'orchestrator' });
    expect(await query(service, 'CREATE TABLE t (n int)')).toEqual([]);
  });

  it('refuses a name that would need quoting', async () => {
    await expect(provisionServiceDatabase(admin, { schema: 'a; drop' })).rejects.toMatchObject({ code: 'bad-config' });
  });
});

describe('migrate', () => {
  it('applies each migration once when three start at once', async () => {
    const config = await provisionServiceDatabase(await newDatabase(), { schema: 'orchestrator' });
    const sources = await Promise.all([1, 2, 3].map(() => createDataSource(config, [First1764400000001])));
    try {
      const applied = await Promise.all(sources.map((source) => migrate(source)));
      expect(applied.flat()).toEqual(['First1764400000001']);
      expect(await query(config, 'SELECT count(*)::int AS n FROM orchestrator.migrations')).toEqual([{ n: 1 }]);
    } finally {
      await Promise.all(sources.map((source) => source.destroy()));
    }
  });

  it('undoes a migration that fails and keeps those before it', async () => {
    const config = await newDatabase();
    const source = await createDataSource(config, [First1764400000001, Broken1764400000002]);
    try {
      await expect(migrate(source)).rejects.toThrow('division by zero');
      expect(
        await query(config, "SELECT to_regclass('first')::text AS first, to_regclass('second')::text AS second"),
      ).toEqual([{ first: 'first', second: null }]);
    } finally {
      await source.destroy();
    }
  });
});

describe('createDataSource', () => {
  it('survives the loss of a session inside a transaction', async () => {
    const source = await createDataSource(await newDatabase(), []);
    try {
      const work = source.transaction(async (manager) => {
        const [{ pid }] = await manager.query<[{ pid: number }]>('SELECT pg_backend_pid() AS pid');
        await query(admin, 'SELECT pg_terminate_backend($1)', [pid]);
        await manager.query('SELECT pg_sleep(5)');
      });
      expect(toDatabaseError(await work.catch((error: unknown) => error))).toMatchObject({
        code: 'database-unavailable',
      });
      expect(await source.query('SELECT 1 AS n')).toEqual([{ n: 1 }]);
    } finally {
      await source.destroy();
    }
  });

  it('says what is wrong when there is no server or no such database', async () => {
    await expect(createDataSource({ ...admin, port: 1 }, [])).rejects.toMatchObject({ code: 'database-unavailable' });
    await expect(createDataSource({ ...admin, database: 'none' }, [])).rejects.toMatchObject({ code: 'bad-config' });
  });
});

describe('connectClient', () => {
  it('reports a lost connection once and keeps the process', async () => {
    const errors: unknown[] = [];
    const lost = Promise.withResolvers<undefined>();
    const onError = (error: unknown) => {
      errors.push(error);
      lost.resolve(undefined);
    };
    const client = await connectClient(admin, { name: 'victim', onError });
    await query(admin, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'victim'");
    await lost.promise;
    await expect(client.query('SELECT 1')).rejects.toThrow(/not queryable|terminated/);
    expect(errors).toEqual([expect.objectContaining({ code: 'database-unavailable' })]);
    await client.end();
  });

  it('plans once when asked', async () => {
    const client = await connectClient(admin, { name: 'lane', onError: () => undefined, plan: 'generic' });
    expect((await client.query('SHOW plan_cache_mode')).rows).toEqual([{ plan_cache_mode: 'force_generic_plan' }]);
    await client.end();
  });
});

describe('claimDatabase', () => {
  const installation = { id: randomUUID(), shardCount: 24, productVersion: '0.1.0' };

  it('marks an empty database and knows it again', async () => {
    const config = await newDatabase();
    await Promise.all([claimDatabase(config, installation), claimDatabase(config, installation)]);
    await claimDatabase(config, { ...installation, productVersion: '0.2.0' });
    expect(await query(config, 'SELECT id, shard_count, product_version FROM installation')).toEqual([
      { id: installation.id, shard_count: 24, product_version: '0.2.0' },
    ]);
  });

  it('refuses the database of another installation', async () => {
    const config = await newDatabase();
    await claimDatabase(config, installation);
    const other = { ...installation, id: randomUUID() };
    await expect(claimDatabase(config, other)).rejects.toMatchObject({
      code: 'database-not-ours',
      message: expect.stringMatching(new RegExp(`seen \`${installation.id}\`; expected \`${other.id}\``)),
    });
  });

  it('refuses another number of shards', async () => {
    const config = await newDatabase();
    await claimDatabase(config, installation);
    await expect(claimDatabase(config, { ...installation, shardCount: 12 })).rejects.toMatchObject({
      code: 'wrong-shard-count',
    });
  });
});

describe('readInstallationId', () => {
  it('makes an id once, also for two starters at once', async () => {
    const home = await mkdtemp(join(tmpdir(), 'lineclear-test-'));
    try {
      const ids = await Promise.all([1, 2, 3].map(() => readInstallationId(join(home, 'deep'))));
      expect(new Set(ids).size).toBe(1);
      expect((await readFile(join(home, 'deep/installation-id'), 'utf8')).trim()).toBe(ids[0]);
      await writeFile(join(home, 'deep/installation-id'), 'nonsense');
      await expect(readInstallationId(join(home, 'deep'))).rejects.toMatchObject({ code: 'bad-config' });
    } finally {
      await rm(home, { recursive: true, force: true });
    }
  });
});

describe('holdInstanceLock', () => {
  it('refuses a second holder and names the first', async () => {
    const config = await newDatabase();
    const lock = await holdInstanceLock(config);
    await expect(holdInstanceLock(config, { waitMs: 100 })).rejects.toMatchObject({
      code: 'folder-in-use',
      message: expect.stringContaining(`process ${process.pid}`),
    });
    await lock.release();
    expect(await lock.lost).toEqual({ expected: true });
    await (await holdInstanceLock(config)).release();
  });

  it('says when it lost the lock', async () => {
    const config = await newDatabase();
    const lock = await holdInstanceLock(config);
    await query(
      config,
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name LIKE 'lineclear instance%' AND datname = current_database()",
    );
    expect(await lock.lost).toEqual({ expected: false });
  });
});
