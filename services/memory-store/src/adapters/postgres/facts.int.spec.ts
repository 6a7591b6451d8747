import { createDataSource, migrate } from '@lineclear/persistence';
import { testDatabase } from '@lineclear/test-kit';
import type { DataSource } from 'typeorm';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { memoryStore } from '../../memory-store.js';
import { newFact } from '../../testing/mothers.js';
import { recallFacts } from './fact-recall.js';
import { FactStore } from './fact-store.js';

const FACT = newFact();

describe('facts in PostgreSQL', () => {
  let dataSource: DataSource;
  let store: FactStore;
  const read = {
    query: <R extends object>(text: string, values?: readonly unknown[]) =>
      dataSource.query<R[]>(text, [...(values ?? [])]),
  };
  const recall = async (owner: { tenant: string; subject: string }, query: string, limit = 10) => {
    const [facts] = await recallFacts(read, [{ ...owner, query, limit }]);
    return (facts ?? []).map((fact) => fact.text);
  };

  beforeAll(async () => {
    const config = await (await testDatabase()).createDatabase({ schema: 'memory_store' });
    dataSource = await createDataSource(config, memoryStore.migrations);
    await migrate(dataSource);
    store = new FactStore(dataSource);
  });

  afterAll(async () => {
    await dataSource.destroy();
  });

  it('recalls by words, in other forms too, best match first', async () => {
    const owner = { tenant: 'acme', subject: 'words' };
    await store.remember([
      { ...FACT, ...owner, text: 'The supplier Kessel delivers late' },
      { ...FACT, ...owner, text: 'Kessel invoices are paid by the supplier portal of Kessel' },
      { ...FACT, ...owner, text: 'likes tea' },
    ]);
    expect(await recall(owner, 'pay the invoice of Kessel')).toEqual([
      'Kessel invoices are paid by the supplier portal of Kessel',
      'The supplier Kessel delivers late',
    ]);
    expect(await recall(owner, 'pay the invoice of Kessel', 1)).toHaveLength(1);
    expect(await recall(owner, '')).toEqual([]);
    expect(await recall(owner, 'the of and')).toEqual([]);
  });

  it('puts the newest first among equal matches and never recalls a superseded fact', async () => {
    const owner = { tenant: 'acme', subject: 'order' };
    const city = { ...FACT, ...owner, topic: 'city' };
    await store.remember([
      { ...FACT, ...owner, text: 'city fair one', eventTime: new Date('2026-01-01T00:00:00Z') },
      { ...FACT, ...owner, text: 'city fair two', eventTime: new Date('2026-02-01T00:00:00Z') },
      { ...city, text: 'city Pune', eventTime: new Date('2026-01-01T00:00:00Z') },
      { ...city, text: 'city Bengaluru', eventTime: new Date('2026-03-01T00:00:00Z') },
      { ...city, text: 'city Pune', eventTime: new Date('2026-01-01T00:00:00Z') },
    ]);
    expect(await recall(owner, 'city')).toEqual(['city Bengaluru', 'city fair two', 'city fair one']);
    const all = await store.list({ ...owner, limit: 10, includeSuperseded: true });
    expect(all.find((fact) => fact.text === 'city Pune')?.supersededBy).toEqual(
      all.find((fact) => fact.text === 'city Bengaluru')?.id,
    );
  });

  it('takes concurrent arrivals on one topic as if they came one after the other', async () => {
    const owner = { tenant: 'acme', subject: 'race' };
    const arrivals = Array.from({ length: 12 }, (_, day) => ({
      ...FACT,
      ...owner,
      topic: 'city',
      text: `city ${day}`,
      eventTime: new Date(Date.UTC(2026, 0, 1 + day)),
    }));
    await Promise.all(arrivals.map((arrived) => store.remember([arrived])));
    expect(await recall(owner, 'city', 20)).toEqual(['city 11']);
  });

  it('pages without a gap or a repetition', async () => {
    const owner = { tenant: 'acme', subject: 'pages' };
    await store.remember(Array.from({ length: 5 }, (_, n) => ({ ...FACT, ...owner, text: `note ${n}` })));
    const first = await store.list({ ...owner, limit: 3, includeSuperseded: false });
    const last = first.at(-1);
    const before = last && { at: last.eventTime, id: last.id };
    const rest = await store.list({ ...owner, limit: 3, includeSuperseded: false, before });
    expect(new Set([...first, ...rest].map((fact) => fact.text)).size).toBe(5);
  });

  it('never shows a canary of one subject or tenant to another, whatever is asked (B44)', async () => {
    const owners = Array.from({ length: 100 }, (_, n) => ({ tenant: `t${Math.floor(n / 5)}`, subject: `u${n % 5}` }));
    const canary = ({ tenant, subject }: { tenant: string; subject: string }) => `canary${tenant}x${subject}`;
    await store.remember(owners.map((owner) => ({ ...FACT, ...owner, text: `common secret ${canary(owner)}` })));
    const hostile = [
      'common secret',
      "' OR 1=1 --",
      '%',
      '* | !nothing',
      "canary:* & (x) <-> 'y'",
      '\\',
      'a\0b \ud800',
    ];
    for (const owner of owners) {
      const queries = [...owners.map(canary), ...hostile];
      const found = await recallFacts(
        read,
        queries.map((query) => ({ ...owner, query, limit: 50 })),
      );
      const texts = new Set(found.flat().map((fact) => fact.text));
      expect([...texts]).toEqual([`common secret ${canary(owner)}`]);
    }
    for (const stranger of [
      { tenant: 't0', subject: '' },
      { tenant: '', subject: 'u0' },
      { tenant: '%', subject: '%' },
      { tenant: 't0\0', subject: 'u0' },
      { tenant: 'undefined', subject: 'null' },
    ])
      expect(await recall(stranger, 'common secret')).toEqual([]);
  });

  it('refuses a fact without an owner', async () => {
    await expect(store.remember([{ ...FACT, subject: '' }])).rejects.toThrow(/violates check constraint/);
  });
});
