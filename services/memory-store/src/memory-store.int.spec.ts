import { type EventData, eventType } from '@lineclear/contracts';
import { type Caller, type HostedService, startHosted } from '@lineclear/host/testing';
import { eventually, testDatabase } from '@lineclear/test-kit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FactStore } from './adapters/postgres/fact-store.js';
import { memoryStore } from './memory-store.js';
import { newFact } from './testing/mothers.js';

const FACT = newFact({
  text: 'Kessel delivers late',
  source: 'run_0',
  label: { confidentiality: 'restricted', integrity: 'untrusted' },
});

function started(subject: string, recall: { k: number; query: string }): EventData<'run.started'> {
  const budget = { steps: 1, tokens: 1, costMicros: 1, toolCalls: 1, activeMs: 1, wallMs: 1 };
  return {
    inputs: [],
    taskId: 't',
    taskSource: '/test',
    payloadHash: 'h',
    definition: {
      agent: 'clerk',
      version: 1,
      prompt: 'p',
      model: 'scripted/x',
      tools: [],
      budget,
      context: { clearAtTokens: 1, keepResults: 1 },
      memory: { recall: recall.k },
      maxOutputTokens: 1,
      principal: { roles: [] },
    },
    principal: { tenant: 'acme', subject, roles: [], scopes: [] },
    price: null,
    recall,
    budgets: budget,
    label: { confidentiality: 'internal', integrity: 'trusted' },
  };
}

describe('the memory store as a service', () => {
  let hosted: HostedService;
  const ann = { tenant: 'acme', subject: 'ann' };
  const otto = { tenant: 'acme', subject: 'otto', roles: ['operator'] };

  beforeAll(async () => {
    hosted = await startHosted(memoryStore, { database: await (await testDatabase()).createDatabase() });
    await new FactStore(hosted.dataSource).remember([
      FACT,
      { ...FACT, text: 'likes tea' },
      { ...FACT, tenant: 'other', text: 'Kessel is ours' },
      { ...FACT, subject: 'bob', text: 'Kessel belongs to Bob' },
    ]);
  });

  afterAll(async () => {
    await hosted.stop();
  });

  const start = (runId: string, data: EventData<'run.started'>, id?: string) =>
    hosted.world.publish({ name: 'run.started', key: runId, tenant: 'acme', data }, id === undefined ? {} : { id });
  const recalled = (runId: string) => hosted.world.waitFor('memory-store', (event) => event.subject === runId);

  it('answers a run that starts with facts about its subject alone, and their label', async () => {
    await start('run_1', started('ann', { k: 3, query: 'invoice of Kessel' }));
    expect(await recalled('run_1')).toMatchObject({
      name: 'memory.recalled',
      tenant: 'acme',
      confidentiality: 'restricted',
      integrity: 'untrusted',
      data: { facts: [{ text: FACT.text, source: 'run_0', eventTime: '2026-01-10T00:00:00.000Z', label: FACT.label }] },
    });
  });

  it('answers with nothing where nothing is asked or known', async () => {
    await start('run_2', started('ann', { k: 0, query: 'Kessel' }));
    await start('run_3', started('nobody', { k: 9, query: 'Kessel' }));
    for (const runId of ['run_2', 'run_3']) expect(await recalled(runId)).toMatchObject({ data: { facts: [] } });
  });

  it('answers a redelivered event once, though facts have changed meanwhile', async () => {
    const data = started('ann', { k: 3, query: 'Kessel' });
    await start('run_4', data, 'again');
    const first = await recalled('run_4');
    await new FactStore(hosted.dataSource).remember([{ ...FACT, text: 'Kessel was sold' }]);
    await start('run_4', data, 'again');
    await start('run_5', data);
    await recalled('run_5');
    await eventually(async () => (await hosted.service.ready()).ready);
    expect((await hosted.world.events('memory-store')).filter(({ subject }) => subject === 'run_4')).toEqual([first]);
    expect(first.type).toBe(eventType('memory.recalled'));
  });

  it('shows facts to their subject, and to an operator of the tenant', async () => {
    const facts = async (caller: Caller, query = '') => {
      const answer = await hosted.call(caller, 'GET', `/v1/facts${query}`);
      return { status: answer.status, body: answer.body as { items: { text: string }[]; next?: string } };
    };
    const own = await facts(ann, '?limit=2');
    expect(own.body.items).toHaveLength(2);
    const rest = await facts(ann, `?limit=2&cursor=${encodeURIComponent(own.body.next ?? '')}`);
    expect(new Set([...own.body.items, ...rest.body.items].map(({ text }) => text)).size).toBe(3);
    expect((await facts({ ...ann, tenant: 'other' })).body.items).toMatchObject([{ text: 'Kessel is ours' }]);
    expect((await facts(ann, '?subject=bob')).status).toBe(403);
    expect((await facts(otto, '?subject=bob')).body.items).toHaveLength(1);
    expect((await facts({ ...otto, tenant: 'other' }, '?subject=bob')).body.items).toHaveLength(0);
    for (const wrong of ['subject=', 'tenant=other', 'limit=0', 'subject=a&subject=b', 'cursor=x'])
      expect((await facts(otto, `?${wrong}`)).status).toBe(400);
    expect((await hosted.call(null, 'GET', '/v1/facts')).status).toBe(401);
  });
});
