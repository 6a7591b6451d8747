import { eventually, testDatabase } from '@lineclear/test-kit';
import { connectClient, type DatabaseConfig } from '@lineclear/persistence';
import type pg from 'pg';
import { afterEach, describe, expect, it } from 'vitest';
import { MESSAGING_MIGRATIONS } from '../tables/messaging-tables.js';
import { JOB_TABLE } from '../tables/lane-tables.js';
import { LaneConnection } from './connection.js';
import { FENCED, type Refusal, statementText } from './statement.js';
import { loadShards, takeShards } from './takeover.js';

const SHARD = 5;
const closing: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  await Promise.all(closing.splice(0).map((close) => close()));
});

async function database(): Promise<DatabaseConfig> {
  const server = await testDatabase();
  const template = await server.template('messaging-tables', async (config) => {
    const client = await connectClient(config, { name: 'prepare', onError: () => undefined });
    for (const Migration of MESSAGING_MIGRATIONS)
      await new Migration().up(client as { query(text: string): Promise<unknown> });
    await client.end();
  });
  return await server.createDatabase({ template });
}

async function setUp() {
  const config = await database();
  const zombie = await connectClient(config, { name: 'zombie', onError: () => undefined });
  const owner = new LaneConnection(config, 'owner');
  await owner.connect();
  const observer = await connectClient(config, { name: 'observer', onError: () => undefined });
  closing.push(
    () => zombie.end(),
    () => owner.close(),
    () => observer.end(),
  );
  await takeShards(owner, 'zombie', [SHARD]);
  return { zombie, owner, observer };
}

const JOB = `'[{"id":"job-of-zombie","shard":${SHARD},"kind":"k","key":"a","tenant":"t","attempt":1,"payload":"null","state":"dispatched",
  "dispatch_by_ms":1,"timeout_ms":1,"lost":"quiet"}]'::json`;
const INSERT_JOB = `INSERT INTO job (id, shard, kind, key, tenant, attempt, payload, state, dispatch_by_ms, timeout_ms, lost)
  SELECT id, shard, kind, key, tenant, attempt, payload, state, dispatch_by_ms, timeout_ms, lost FROM json_populate_recordset(NULL::job, ${JOB})`;

/** The lane's own statement, inserting one job at epoch 1. */
async function laneStatement(client: pg.Client, refusal: Refusal = 'bare'): Promise<void> {
  const section = { id: 'job/append', schema: 'public', table: JOB_TABLE, kind: 'append', form: 'json' } as const;
  const job = {
    id: 'job-of-zombie',
    shard: SHARD,
    kind: 'k',
    key: 'a',
    tenant: 't',
    attempt: 1,
    payload: 'null',
    state: 'dispatched',
  };
  const rows = [{ ...job, dispatch_by_ms: 1, timeout_ms: 1, lost: 'quiet' }];
  const fence = [`{${SHARD}}`, '{1}', '{}', 1];
  await client.query(statementText(['public'], [section], refusal), [...fence, JSON.stringify(rows)]);
}

async function isWaiting(observer: pg.Client, name: string): Promise<boolean> {
  const { rowCount } = await observer.query(
    `SELECT 1 FROM pg_stat_activity WHERE application_name = $1 AND wait_event_type = 'Lock' AND datname = current_database()`,
    [name],
  );
  return (rowCount ?? 0) > 0;
}

async function takeAndLoad(owner: LaneConnection): Promise<string[]> {
  const shards = await takeShards(owner, 'owner', [SHARD]);
  await loadShards(owner, shards, ['runs'], new Date());
  return shards.flatMap(({ jobs }) => [...jobs.keys()]);
}

describe('M1: a takeover against a zombie', () => {
  it('waits for a statement that is under way and then sees all that it wrote', async () => {
    const { zombie, owner, observer } = await setUp();
    await zombie.query('BEGIN');
    await laneStatement(zombie);
    const taken = takeAndLoad(owner);
    await eventually(() => isWaiting(observer, 'owner'));
    await zombie.query('COMMIT');
    expect(await taken).toEqual(['job-of-zombie']);
  });

  it('lets no later statement of the zombie through, with nothing of it left', async () => {
    const { zombie, owner, observer } = await setUp();
    expect(await takeAndLoad(owner)).toEqual([]);
    await expect(laneStatement(zombie)).rejects.toMatchObject({ code: FENCED, detail: '' });
    await expect(laneStatement(zombie, 'names')).rejects.toMatchObject({ code: FENCED, detail: `[${SHARD}]` });
    expect((await observer.query('SELECT * FROM job')).rows).toEqual([]);
  });

  it('refuses a statement that waited for the takeover', async () => {
    const { zombie, owner, observer } = await setUp();
    const blocker = observer;
    await blocker.query('BEGIN');
    await blocker.query('UPDATE shard SET epoch = epoch + 1 WHERE shard = $1', [SHARD]);
    const refused = laneStatement(zombie).catch((error: unknown) => error);
    await eventually(
      async () =>
        (
          await owner.query(
            "SELECT 1 AS x FROM pg_stat_activity WHERE application_name = 'zombie' AND wait_event_type = 'Lock'",
          )
        ).length > 0,
    );
    await blocker.query('COMMIT');
    expect(await refused).toMatchObject({ code: FENCED });
    expect((await observer.query('SELECT * FROM job')).rows).toEqual([]);
  });
});

describe('M1: the wrong ways', () => {
  it('loses rows when takeover and scan are one statement: its snapshot is older than the wait', async () => {
    const { zombie, owner, observer } = await setUp();
    await zombie.query('BEGIN');
    await laneStatement(zombie);
    const taken = owner.query<{ id: string }>(
      `WITH taken AS (UPDATE shard SET epoch = epoch + 1, owner = 'owner' WHERE shard = $1 RETURNING shard)
       SELECT j.id FROM taken JOIN job j ON j.shard = taken.shard`,
      [SHARD],
    );
    await eventually(() => isWaiting(observer, 'owner'));
    await zombie.query('COMMIT');
    expect(await taken).toEqual([]);
    expect((await observer.query('SELECT id FROM job')).rows).toEqual([{ id: 'job-of-zombie' }]);
  });

  it.each([
    ['a plain SELECT that the client checks', 'SELECT epoch::int FROM shard WHERE shard = $1'],
    ['FOR KEY SHARE', 'SELECT epoch::int FROM shard WHERE shard = $1 FOR KEY SHARE'],
  ])('leaves an orphan with %s: the takeover does not wait', async (_name, check) => {
    const { zombie, owner, observer } = await setUp();
    await zombie.query('BEGIN');
    const { rows } = await zombie.query(
      `WITH checked AS MATERIALIZED (${check}), w AS (${INSERT_JOB}) SELECT epoch FROM checked`,
      [SHARD],
    );
    expect(rows).toEqual([{ epoch: 1 }]);
    await owner.query('UPDATE shard SET epoch = epoch + 1 WHERE shard = $1', [SHARD]);
    expect(await owner.query('SELECT id FROM job WHERE shard = $1', [SHARD])).toEqual([]);
    await zombie.query('COMMIT');
    expect((await observer.query('SELECT id FROM job')).rows).toEqual([{ id: 'job-of-zombie' }]);
  });

  it('does not wait either when the locking CTE is not referenced: it never runs', async () => {
    const { zombie, owner } = await setUp();
    await zombie.query('BEGIN');
    await zombie.query(`WITH lock AS (SELECT 1 FROM shard WHERE shard = $1 FOR SHARE) ${INSERT_JOB}`, [SHARD]);
    expect(await takeAndLoad(owner)).toEqual([]);
    await zombie.query('COMMIT');
  });

  it('locks only the first shard with exists(): the second is taken meanwhile', async () => {
    const { zombie, owner } = await setUp();
    await zombie.query('BEGIN');
    await zombie.query('SELECT 1 WHERE exists(SELECT 1 FROM shard WHERE shard IN (4, 5) ORDER BY shard FOR SHARE)');
    expect(await takeAndLoad(owner)).toEqual([]);
    await zombie.query('COMMIT');
  });

  it('keeps half of a batch when a guard is checked after the commit', async () => {
    const { observer } = await setUp();
    await observer.query('CREATE TABLE state (key text PRIMARY KEY, version int); INSERT INTO state VALUES ($$a$$, 7)');
    const unguarded = `WITH moved AS (UPDATE state SET version = 2 WHERE key = 'a' AND version = 1 RETURNING key), w AS (${INSERT_JOB})
      SELECT count(*)::int AS moved FROM moved`;
    expect((await observer.query(unguarded)).rows).toEqual([{ moved: 0 }]);
    expect((await observer.query('SELECT id FROM job')).rows).toEqual([{ id: 'job-of-zombie' }]);
  });
});
