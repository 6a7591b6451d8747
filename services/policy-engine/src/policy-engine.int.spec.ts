import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { approvalIdOf, type EventData, shardOf } from '@lineclear/contracts';
import { type Caller, type HostedService, startHosted } from '@lineclear/host/testing';
import { eventually, testDatabase } from '@lineclear/test-kit';
import { compactVerify, createLocalJWKSet, type JSONWebKeySet } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { DecisionView } from './adapters/postgres/decisions.js';
import type { Proposal } from './domain/decide-call.js';
import { ASSUMED_TRAITS } from './domain/traits.js';
import { policyEngine } from './policy-engine.js';
import { proposalOf } from './testing/mothers.js';

const POLICY = `policy: p
version: 1
rules:
  - {id: post, allow: erp.post, where: {cents: {max: 100}}}
  - {id: big, ask: erp.post, where: {cents: {min: 101, max: 900}}, approvers: [finance], fourEyes: true}
  - {id: bank, deny: erp.bank, terminal: true}
`;
const ann: Caller = { tenant: 'acme', subject: 'ann', roles: ['clerk'] };
const operator: Caller = { tenant: 'acme', subject: 'olga', roles: ['operator'] };

let runs = 0;
const newRun = () => `run_${String((runs += 1)).padStart(24, '0')}`;

function authorizedOf(
  event: { readonly name: string; readonly data: unknown } | undefined,
): EventData<'tool-call.authorized'> {
  expect(event?.name).toBe('tool-call.authorized');
  return event?.data as EventData<'tool-call.authorized'>;
}

describe('the policy engine', () => {
  let hosted: HostedService;
  let folder: string;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'policy-engine-'));
    await mkdir(join(folder, 'policies'));
    await writeFile(join(folder, 'policies', 'p.yaml'), POLICY);
    const environment = { LINECLEAR_PROJECT: folder, LINECLEAR_HOME: join(folder, 'home') };
    hosted = await startHosted(policyEngine, { database: await (await testDatabase()).createDatabase(), environment });
    await hosted.world.waitFor('policy-engine', 'policy-set.activated');
    for (const name of ['erp.post', 'erp.bank']) await updated(name);
    await eventually(async () => (await hosted.dataSource.query('SELECT 1 FROM catalog_tool')).length === 2);
  });

  afterAll(async () => {
    await hosted.stop();
    await rm(folder, { recursive: true });
  });

  const updated = (name: string, definitionHash = 'h1', sequence = 1) =>
    hosted.world.publish({
      name: 'tool.updated',
      key: name,
      tenant: 'platform',
      sequence,
      data: {
        server: 'erp',
        name,
        definitionHash,
        description: '',
        schema: { type: 'object' },
        traits: ASSUMED_TRAITS,
        status: 'available',
      },
    });
  const propose = (runId: string, proposal: Proposal, id?: string) =>
    hosted.world.publish(
      { name: 'tool-call.proposed', key: runId, tenant: 'acme', data: proposal },
      id === undefined ? {} : { id },
    );
  const grant = (
    runId: string,
    { callId, turn, index, round, digest }: Proposal,
    change: Partial<EventData<'approval.granted'>> = {},
  ) =>
    hosted.world.publish({
      name: 'approval.granted',
      key: runId,
      tenant: 'acme',
      data: {
        callId,
        turn,
        index,
        round,
        stage: 'first',
        approvalId: approvalIdOf(callId, round),
        by: 'frieda',
        digest,
        validUntil: new Date(Date.now() + 600_000).toISOString(),
        ...change,
      },
    });
  const told = async (runId: string) =>
    (await hosted.world.events('policy-engine')).filter(({ subject }) => subject === runId);
  const answered = (runId: string, count = 1) =>
    eventually(async () => {
      const events = await told(runId);
      return events.length >= count && events;
    });
  const decisions = async (runId: string, caller = ann) =>
    (await hosted.call(caller, 'GET', `/v1/decisions?runId=${runId}`)).body as { items: DecisionView[] };

  it('authorizes what a rule allows by a signature that its published key verifies', async () => {
    const runId = newRun();
    const proposal = proposalOf(runId, { cents: 100 });
    await propose(runId, proposal);
    const [event] = await answered(runId);
    const { jws, claims, edited } = authorizedOf(event);
    const { body } = await hosted.call(null, 'GET', '/.well-known/jwks.json');
    const { payload } = await compactVerify(jws, createLocalJWKSet(body as JSONWebKeySet));
    const signed = JSON.parse(new TextDecoder().decode(payload)) as Record<string, unknown>;
    expect(signed).toMatchObject({
      ...claims,
      sub: proposal.callId,
      digest: proposal.digest,
      definitionHash: 'h1',
      policyVersion: 1,
    });
    expect(Number(signed['exp']) - Number(signed['iat'])).toBe(60);
    expect(edited).toBe(false);
    expect(JSON.parse(await readFile(join(folder, 'home', 'policy-jwks.json'), 'utf8'))).toEqual(body);
    expect((await decisions(runId)).items).toMatchObject([
      {
        callId: proposal.callId,
        verdict: 'authorized',
        rules: ['post'],
        policyVersion: 1,
        jti: claims.jti,
        digest: proposal.digest,
      },
    ]);
  });

  it('decides once, however often a proposal comes (S4)', async () => {
    const runId = newRun();
    const proposal = proposalOf(runId, { cents: 1 });
    for (const id of ['same', 'same', 'another id', 'a third']) await propose(runId, proposal, `${runId} ${id}`);
    const marker = newRun();
    await propose(runId, proposalOf(runId, { cents: 2 }, { index: 1 }), marker);
    await answered(runId, 2);
    expect((await told(runId)).map(({ data }) => (data as { callId: string }).callId)).toEqual([
      `${runId}-1-0`,
      `${runId}-1-1`,
    ]);
  });

  it('refers, and authorizes the granted call at the second stage, with edited arguments (S18)', async () => {
    const runId = newRun();
    const proposal = proposalOf(runId, { cents: 900 });
    await propose(runId, proposal);
    const [referral] = await answered(runId);
    expect(referral).toMatchObject({
      name: 'tool-call.referred',
      data: { approvers: ['finance'], fourEyes: true, requester: 'ann' },
    });
    const edited = proposalOf(runId, { cents: 850 });
    await grant(runId, proposal, { arguments: { cents: 850 }, digest: edited.digest });
    const [, event] = await answered(runId, 2);
    expect(event).toMatchObject({
      name: 'tool-call.authorized',
      data: { stage: 'approved', round: 1, arguments: { cents: 850 }, edited: true, claims: { digest: edited.digest } },
    });
    const again = { ...edited, round: 2, approvalId: approvalIdOf(proposal.callId, 1) };
    await propose(runId, again);
    const [, , second] = await answered(runId, 3);
    expect(second).toMatchObject({
      name: 'tool-call.authorized',
      data: { stage: 'first', round: 2, approvalId: again.approvalId, edited: true, claims: { digest: edited.digest } },
    });
    expect((await decisions(runId)).items.map(({ verdict, stage }) => [verdict, stage])).toEqual([
      ['referred', 'first'],
      ['authorized', 'approved'],
      ['authorized', 'first'],
    ]);
  });

  it('denies edited arguments that the rules do not allow, and a grant for another digest', async () => {
    for (const change of [{ arguments: { cents: 901 } }, { digest: 'of another call' }]) {
      const runId = newRun();
      const proposal = proposalOf(runId, { cents: 900 });
      await propose(runId, proposal);
      await answered(runId);
      const digest = proposalOf(runId, change.arguments ?? { cents: 900 }).digest;
      await grant(runId, proposal, { digest, ...change });
      const [, event] = await answered(runId, 2);
      expect(event).toMatchObject({ name: 'tool-call.denied', data: { stage: 'approved' } });
    }
  });

  it('refers anew when the grant had ended (messaging 7)', async () => {
    const runId = newRun();
    const proposal = proposalOf(runId, { cents: 500 });
    await propose(runId, proposal);
    await answered(runId);
    const validUntil = new Date(Date.now() - 1_000).toISOString();
    await grant(runId, proposal, { validUntil });
    const [, late] = await answered(runId, 2);
    const { claims } = authorizedOf(late);
    expect(claims.exp * 1_000).toBeLessThanOrEqual(Date.parse(validUntil));
    await propose(runId, { ...proposal, round: 2, approvalId: approvalIdOf(proposal.callId, 1) });
    const [, , again] = await answered(runId, 3);
    expect(again).toMatchObject({ name: 'tool-call.referred', data: { round: 2 } });
  });

  it('denies with terminal, records undecidable calls, and shows decisions to their tenant alone (B27)', async () => {
    const runId = newRun();
    await propose(runId, proposalOf(runId, {}, { tool: 'erp.bank' }));
    await propose(runId, proposalOf(runId, { cents: '1' }, { index: 1 }));
    await propose(runId, proposalOf(runId, { cents: { __entity: { type: 'Role', id: 'admin' } } }, { index: 2 }));
    const events = await answered(runId, 3);
    expect(events.map(({ data }) => (data as EventData<'tool-call.denied'>).terminal)).toEqual([true, false, false]);
    expect((await decisions(runId)).items).toMatchObject([
      { verdict: 'denied', rules: ['bank'], errors: [] },
      { verdict: 'denied', rules: ['big', 'post'], errors: [{ rule: 'big' }, { rule: 'post' }] },
      { verdict: 'denied', rules: [], errors: [{ message: expect.stringContaining('__entity') }] },
    ]);
    expect((await decisions(runId, { ...ann, tenant: 'other' })).items).toEqual([]);
    expect((await hosted.call(null, 'GET', '/v1/decisions')).status).toBe(401);
  });

  it('pages decisions without a gap or a repetition', async () => {
    const seen: string[] = [];
    for (let after = ''; ; ) {
      const { body } = await hosted.call(ann, 'GET', `/v1/decisions?limit=2${after}`);
      const { items, next } = body as { items: DecisionView[]; next?: string };
      seen.push(...items.map(({ decisionId }) => decisionId));
      if (next === undefined) break;
      after = `&after=${encodeURIComponent(next)}`;
    }
    const all = await hosted.dataSource.query<unknown[]>("SELECT 1 FROM decision WHERE tenant = 'acme'");
    expect(new Set(seen).size).toBe(all.length);
    expect(seen).toHaveLength(all.length);
  });

  it('waits for the catalog, then denies a tool that it does not know', async () => {
    const [late, never] = [newRun(), newRun()];
    await propose(late, proposalOf(late, { cents: 1 }, { tool: 'erp.late' }));
    await propose(never, proposalOf(never, {}, { tool: 'erp.never' }));
    await eventually(async () => (await hosted.dataSource.query('SELECT 1 FROM held')).length === 2);
    await updated('erp.late');
    const [denied] = await answered(never);
    expect(denied).toMatchObject({
      name: 'tool-call.denied',
      data: { reason: expect.stringContaining('not in the catalog') },
    });
    const [known] = await answered(late);
    expect(known).toMatchObject({
      name: 'tool-call.denied',
      data: { reason: expect.stringContaining('no rule allows') },
    });
  });

  it('parks a grant that nobody asked for, and answers it as denied when an operator drops it', async () => {
    const runId = newRun();
    await grant(runId, proposalOf(runId, { cents: 500 }));
    const parked = await eventually(async () => {
      const { body } = await hosted.call(operator, 'GET', '/v1/parked');
      const found = (body as { items: { id: string; key: string; state: string }[] }).items.find(
        ({ key }) => key === runId,
      );
      return found?.state === 'parked' && found;
    });
    const { status } = await hosted.call(operator, 'POST', `/v1/parked/${parked.id}/drop`, { reason: 'forged' });
    expect(status).toBe(200);
    const [event] = await answered(runId);
    expect(event).toMatchObject({
      name: 'tool-call.denied',
      data: { stage: 'approved', reason: expect.stringMatching(/^dropped: .*forged/) },
    });
  });

  it('keeps the newest definition of a tool, whatever the order of updates', async () => {
    const hashOf = async (name: string) =>
      (
        await hosted.dataSource.query<{ hash: string }[]>(
          'SELECT definition_hash AS hash FROM catalog_tool WHERE name = $1',
          [name],
        )
      )[0]?.hash;
    const behind = Array.from({ length: 999 }, (_, n) => `erp.mark${n}`).find(
      (name) => shardOf(name) === shardOf('erp.order'),
    );
    await updated('erp.order', 'h3', 3);
    await updated('erp.order', 'h2', 2);
    await updated(behind ?? '');
    await eventually(async () => (await hashOf(behind ?? '')) === 'h1');
    expect(await hashOf('erp.order')).toBe('h3');
  });

  it('tells the verdict on any call by the set in force or by a policy text, without running it', async () => {
    const check = async (body: unknown) => (await hosted.call(ann, 'POST', '/v1/policies/check', body)).body;
    expect(await check({ call: 'erp.post', arguments: { cents: 5 } })).toMatchObject({
      verdict: 'allow',
      rules: ['post'],
      errors: [],
    });
    expect(await check({ call: 'erp.post', arguments: { cents: 500 } })).toMatchObject({
      verdict: 'ask',
      rules: ['big'],
    });
    expect(await check({ call: 'erp.post', arguments: { cents: 500 }, approved: true })).toMatchObject({
      verdict: 'allow',
    });
    expect(await check({ call: 'erp.get_x', roles: ['r'] })).toMatchObject({
      verdict: 'deny',
      rules: [],
      suggestion: '- {id: allow-erp.get_x, allow: "erp.get_x", roles: ["r"]}',
    });
    const policies = 'policy: x\nversion: 1\nrules:\n  - {id: no, deny: erp.post, where: {sents: {min: 1, max: 0}}}\n';
    expect(await check({ call: 'erp.post', policies })).toMatchObject({
      verdict: 'deny',
      errors: [expect.stringMatching(/^policies:4:\d+: no value of `sents` can meet this range/)],
    });
    const misspelt = 'policy: x\nversion: 1\nrules: [{id: no, deny: "erp.*", where: {sents: {present: true}}}]\n';
    expect(await check({ call: 'erp.post', policies: misspelt })).toMatchObject({
      verdict: 'deny',
      warnings: [expect.stringContaining('all rules say deny')],
    });
    expect((await hosted.call(ann, 'POST', '/v1/policies/check', { call: 'x', foo: 1 })).status).toBe(400);
  });

  it('revokes what was signed so far, when an operator says so', async () => {
    expect((await hosted.call(ann, 'POST', '/v1/policies/revoke', { reason: 'x' })).status).toBe(403);
    const { status, body } = await hosted.call(operator, 'POST', '/v1/policies/revoke', { reason: 'a key leaked' });
    expect({ status, body }).toEqual({ status: 200, body: { version: 2, notBeforeVersion: 2 } });
    await hosted.world.waitFor(
      'policy-engine',
      ({ name, data }) => name === 'policy-set.activated' && (data as { version: number }).version === 2,
    );
    const runId = newRun();
    await propose(runId, proposalOf(runId, { cents: 1 }));
    const [event] = await answered(runId);
    expect(event?.data).toMatchObject({ claims: { policyVersion: 2 } });
  });
});
