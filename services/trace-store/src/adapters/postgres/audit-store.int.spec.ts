import { createDataSource, migrate } from '@lineclear/persistence';
import { testDatabase } from '@lineclear/test-kit';
import type { DataSource } from 'typeorm';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { append, type AuditRecord, EMPTY_CHAIN } from '../../domain/audit-chain.js';
import { Archive1764400000001 } from '../../migrations/0001-archive.js';
import { Audit1764400000002 } from '../../migrations/0002-audit.js';
import { AuditStore } from './audit-store.js';

describe('the audit in PostgreSQL', () => {
  let dataSource: DataSource;
  let store: AuditStore;

  beforeAll(async () => {
    const config = await (await testDatabase()).createDatabase({ schema: 'trace_store' });
    dataSource = await createDataSource(config, [Archive1764400000001, Audit1764400000002]);
    await migrate(dataSource);
    store = new AuditStore(dataSource);
  });

  afterAll(async () => {
    await dataSource.destroy();
  });

  async function record(tenant: string, length: number): Promise<AuditRecord[]> {
    const records: AuditRecord[] = [];
    for (let n = 1; n <= length; n += 1) {
      const last = append(tenant, records.at(-1) ?? EMPTY_CHAIN, { subject: `run_${n}`, fact: { n } });
      records.push(last);
      await dataSource.query('INSERT INTO audit VALUES ($1, $2, $3, $4, $5, $6, $7, $8)', [
        tenant,
        last.seq,
        last.prevHash,
        last.hash,
        last.subject,
        last.factText,
        'orchestrator',
        `e${n}`,
      ]);
    }
    const { seq, hash } = records.at(-1) ?? EMPTY_CHAIN;
    await dataSource.query('INSERT INTO audit_head VALUES ($1, $2, $3)', [tenant, seq, hash]);
    return records;
  }

  /** What an owner of the database can still do: switch the triggers off first. */
  async function tamper(statement: string): Promise<void> {
    await dataSource.transaction(async (manager) => {
      await manager.query('ALTER TABLE audit DISABLE TRIGGER USER');
      await manager.query(statement);
      await manager.query('ALTER TABLE audit ENABLE TRIGGER USER');
    });
  }

  it('lists the records of one tenant, page by page', async () => {
    const records = await record('pages', 5);
    await record('others', 2);
    expect(await store.list({ tenant: 'pages', after: 0, limit: 3 })).toEqual(records.slice(0, 3));
    expect(await store.list({ tenant: 'pages', after: 3, limit: 3 })).toEqual(records.slice(3));
    expect(await store.list({ tenant: 'pages', after: 0, limit: 9, subject: 'run_2' })).toEqual(records.slice(1, 2));
  });

  it('is whole, also when it is empty', async () => {
    await record('whole', 4);
    expect(await store.verify('whole')).toEqual({ whole: true, records: 4, firstBroken: null });
    expect(await store.verify('nobody')).toEqual({ whole: true, records: 0, firstBroken: null });
  });

  it.each([
    "UPDATE audit SET fact = '{}'",
    'DELETE FROM audit',
    'TRUNCATE audit',
    'UPDATE audit_head SET seq = 1',
    'DELETE FROM audit_head',
    'TRUNCATE audit_head',
  ])('refuses %s', async (statement) => {
    await record(`refused ${statement}`, 2);
    await expect(dataSource.query(statement)).rejects.toThrow(/append-only|only moves on/);
  });

  it.each([
    ['edited', "UPDATE audit SET fact = '{\"n\":9}' WHERE tenant = 'edited' AND seq = 2", 2],
    ['removed', "DELETE FROM audit WHERE tenant = 'removed' AND seq = 3", 3],
    ['truncated', "DELETE FROM audit WHERE tenant = 'truncated' AND seq > 2", 3],
    [
      'reordered',
      `UPDATE audit a SET subject = b.subject, fact = b.fact FROM audit b
       WHERE a.tenant = 'reordered' AND b.tenant = 'reordered' AND a.seq + b.seq = 5`,
      1,
    ],
  ])('names the first broken record when rows are %s behind its back', async (tenant, statement, firstBroken) => {
    await record(tenant, 4);
    await tamper(statement);
    expect(await store.verify(tenant)).toMatchObject({ whole: false, firstBroken });
  });
});
