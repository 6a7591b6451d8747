import { eventually } from '@lineclear/test-kit';
import { generateKeyPair } from 'jose';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { RegistryWorld } from './testing/registry-world.testsuite.js';

const KEYED = { write: true, key: 'honoured', timeoutMs: 5_000 };
const HONOURS_KEY = { HONOURS_KEY: '1' };
let registry: RegistryWorld;

describe('a run', () => {
  afterEach(() => registry.close());

  it('gets the tools that its agent names, once', async () => {
    registry = await RegistryWorld.open(KEYED);
    const run = registry.newRun();
    const { data } = await registry.startRun(run);
    expect(data).toMatchObject({
      toolsetHash: expect.stringMatching(/^[0-9a-f]{64}$/),
      tools: [
        { name: 'odd.act', alias: 'odd_act', status: 'available', traits: { key: 'honoured', timeoutMs: 5_000 } },
        { name: 'read_result', alias: 'read_result', status: 'available' },
      ],
    });
    await registry.startRun(run);
    const other = await registry.startRun(registry.newRun());
    expect((other.data as { toolsetHash: string }).toolsetHash).toBe((data as { toolsetHash: string }).toolsetHash);
    expect((await registry.eventsOf(run)).map(({ name }) => name)).toEqual(['toolset.resolved']);
  });

  it('has its call made once, with its key, and its result labelled untrusted', async () => {
    registry = await RegistryWorld.open(KEYED);
    const run = registry.newRun();
    await registry.startRun(run);
    const call = await registry.authorize(run, { id: 'a' });
    expect(await registry.completed(call)).toMatchObject({
      status: 'succeeded',
      tool: 'odd.act',
      deduplicated: false,
      result: { text: expect.stringMatching(/^done by \d+$/) },
      label: { integrity: 'untrusted' },
    });
    expect(registry.effects()).toMatchObject([{ id: 'a', key: expect.stringMatching(/^lck_/) }]);
  });

  it('is told the end of a call without another look at the catalogue', async () => {
    registry = await RegistryWorld.open({ ...KEYED, timeoutMs: 1_000, key: 'none' });
    const call = await registry.authorize(registry.newRun(), { id: 'a', mode: 'lost-reply' });
    await eventually(() => registry.effects().length === 1);
    await registry.world.query('ALTER TABLE tool_registry.catalogue_head RENAME TO away');
    expect(await registry.completed(call)).toMatchObject({ status: 'unknown', reason: 'timeout' });
  });

  it('B22: redelivered and repeated authorizations change nothing', async () => {
    registry = await RegistryWorld.open({ ...KEYED, key: 'none' });
    const run = registry.newRun();
    const call = await registry.authorize(run, { id: 'a' }, { id: 'first' });
    await registry.authorize(run, { id: 'a' }, { id: 'first' });
    await registry.authorize(run, { id: 'a' }, { id: 'another' });
    await registry.completed(call);
    await registry.authorize(run, { id: 'a' }, { id: 'late' });
    const next = await registry.authorize(run, { id: 'b' }, { turn: 2 });
    await registry.completed(next);
    await registry.authorize(run, { id: 'a' }, { id: 'later' });
    await registry.completed(await registry.authorize(run, { id: 'c' }, { turn: 3 }));
    expect(registry.effects().map(({ id }) => id)).toEqual(['a', 'b', 'c']);
    expect((await registry.eventsOf(run)).map(({ name }) => name)).toEqual(Array(3).fill('tool-call.completed'));
  });
});

describe('S01: a process that dies between effect and record', () => {
  afterEach(() => registry.close());

  it('leaves an unkeyed call unknown with one effect, which an operator resolves', async () => {
    registry = await RegistryWorld.open({ write: true, key: 'none', timeoutMs: 400 });
    const run = registry.newRun();
    const call = await registry.authorize(run, { id: 'a', mode: 'lost-reply' });
    await untilEffects(1);
    await registry.makeQuiet(call);
    await registry.crash();
    expect(await registry.completed(call)).toMatchObject({ status: 'unknown', reason: 'owner-lost' });
    expect(registry.effects()).toHaveLength(1);
    const by = { tenant: 'acme', subject: 'olga', roles: ['operator'], scopes: [] };
    const payload = { callId: call, outcome: 'happened', reason: 'seen in the ledger', result: { text: 'DOC-1' } };
    const resolve = (tenant: string) => registry.commands.send({ name: 'call.resolve', key: run, tenant, payload, by });
    expect(await resolve('evil')).toMatchObject({ ok: false, failure: { code: 'not-found' } });
    expect(await resolve('acme')).toMatchObject({ ok: true });
    expect(await resolve('acme')).toMatchObject({ ok: true });
    const resolved = (await registry.eventsOf(run)).filter(({ name }) => name === 'tool-call.resolved');
    expect(resolved.map(({ data }) => data)).toMatchObject([
      { callId: call, outcome: 'happened', by: 'olga', result: { text: 'DOC-1' } },
    ]);
    expect(await registry.state(call)).toBe('happened');
  });

  it('S02: repeats a keyed call with the same key, and tells its first result', async () => {
    registry = await RegistryWorld.open(KEYED, HONOURS_KEY);
    const run = registry.newRun();
    const call = await registry.authorize(run, { id: 'a', mode: 'lost-reply-once' });
    await untilEffects(1);
    await registry.crash();
    const [effect] = registry.effects();
    expect(await registry.completed(call)).toMatchObject({
      status: 'succeeded',
      result: { text: `done by ${effect?.pid}` },
    });
    expect(registry.effects()).toHaveLength(1);
  });
});

describe('a lost reply', () => {
  afterEach(() => registry.close());

  it('S02: of a keyed call is asked for again, once', async () => {
    registry = await RegistryWorld.open({ ...KEYED, timeoutMs: 300 }, HONOURS_KEY);
    const call = await registry.authorize(registry.newRun(), { id: 'a', mode: 'lost-reply-once' });
    expect(await registry.completed(call)).toMatchObject({ status: 'succeeded' });
    expect(registry.effects()).toHaveLength(1);
  });

  it('of a keyed call that is lost again leaves it unknown', async () => {
    registry = await RegistryWorld.open({ ...KEYED, timeoutMs: 300 }, HONOURS_KEY);
    const call = await registry.authorize(registry.newRun(), { id: 'a', mode: 'lost-reply' });
    expect(await registry.completed(call)).toMatchObject({ status: 'unknown', reason: 'timeout' });
    expect(registry.effects()).toHaveLength(1);
  });

  it('of an unkeyed call leaves it unknown, and cannot be resolved while the attempt could act', async () => {
    registry = await RegistryWorld.open({ write: true, key: 'none', timeoutMs: 300 });
    const run = registry.newRun();
    const call = await registry.authorize(run, { id: 'a', mode: 'lost-reply' });
    expect(await registry.completed(call)).toMatchObject({ status: 'unknown', reason: 'timeout' });
    const payload = { callId: call, outcome: 'not-happened', reason: 'x' };
    const resolved = await registry.commands.send({
      name: 'call.resolve',
      key: run,
      tenant: 'acme',
      payload,
      by: null,
    });
    expect(resolved).toMatchObject({ ok: false, failure: { code: 'attempt-open' } });
  });

  it('of a server that crashed after acting is asked for again when it is back', async () => {
    registry = await RegistryWorld.open(KEYED, HONOURS_KEY);
    const run = registry.newRun();
    const call = await registry.authorize(run, { id: 'a', mode: 'crash-after' });
    await registry.completed(call);
    expect(registry.effects()).toHaveLength(1);
  });
});

describe('B23, B24: what is no permit', () => {
  beforeAll(async () => {
    registry = await RegistryWorld.open({ ...KEYED, key: 'none' });
  });
  afterAll(() => registry.close());

  it('is never executed: forged, altered, of another run, tenant, audience or time', async () => {
    const forged = await generateKeyPair('EdDSA', { crv: 'Ed25519' });
    const args = { id: 'bad' };
    const past = Math.floor(Date.now() / 1_000) - 10;
    const otherRun = registry.newRun();
    const donor = await registry.authorize(otherRun, { id: 'donor' });
    await registry.completed(donor);
    const cases = [
      ['invalid-authorization', { keys: forged }],
      ['invalid-authorization', { keys: forged, header: { kid: 'k2' } }],
      ['invalid-authorization', { header: { typ: 'JWT' } }],
      ['invalid-authorization', { event: { jws: 'not.a.jws' } }],
      ['invalid-authorization', { event: { jws: '' } }],
      ['invalid-authorization', { event: { arguments: { id: 'changed' } } }],
      ['invalid-authorization', { event: { arguments: { ...args, mode: 'ok' } } }],
      ['invalid-authorization', { claims: { sub: donor } }],
      ['invalid-authorization', { claims: { tenant: 'evil' } }],
      ['invalid-authorization', { claims: { digest: '0'.repeat(64) } }],
      ['authorization-expired', { claims: { exp: past } }],
      ['authorization-expired', { claims: { exp: past + 8, approvalId: 'apr_1' } }],
    ] as const;
    for (const [reason, change] of cases) {
      const call = await registry.authorize(registry.newRun(), args, change);
      expect(await registry.completed(call)).toMatchObject({ status: 'not-dispatched', reason });
    }
    expect(effectsNamed('donor', 'bad', 'changed')).toEqual(['donor']);
    expect((await registry.refusals()).map(({ reason }) => reason)).toEqual(Array(10).fill('invalid-authorization'));
  });

  it('does not answer for a call that a true permit has started', async () => {
    const run = registry.newRun();
    const call = await registry.authorize(run, { id: 'true' });
    await registry.authorize(run, { id: 'false' }, { event: { jws: 'x.y.z' } });
    expect(await registry.completed(call)).toMatchObject({ status: 'succeeded' });
    await registry.completed(await registry.authorize(run, { id: 'next' }, { turn: 2 }));
    expect((await registry.eventsOf(run)).filter(({ name }) => name === 'tool-call.completed')).toHaveLength(2);
    expect(effectsNamed('true', 'false', 'next')).toEqual(['true', 'next']);
  });

  it('is one for another tenant than the run started with', async () => {
    const run = registry.newRun();
    await registry.startRun(run, 'acme');
    const call = await registry.authorize(run, { id: 'stranger' }, { tenant: 'evil' });
    expect(await registry.completed(call)).toMatchObject({ reason: 'invalid-authorization' });
    expect(effectsNamed('stranger')).toEqual([]);
  });

  it('S03: other arguments under the key of a made call are refused and recorded', async () => {
    const run = registry.newRun();
    const call = await registry.authorize(run, { id: 'made' });
    await registry.completed(call);
    await registry.authorize(run, { id: 'other' }, { round: 2 });
    expect(await registry.completed(call, 2)).toMatchObject({ status: 'not-dispatched', reason: 'payload-mismatch' });
    expect(effectsNamed('made', 'other')).toEqual(['made']);
    expect((await registry.refusals()).at(-1)).toMatchObject({ reason: 'payload-mismatch' });
  });

  it('is one that arguments do not fit', async () => {
    const call = await registry.authorize(registry.newRun(), { id: 5 });
    expect(await registry.completed(call)).toMatchObject({
      reason: 'invalid-arguments',
      result: { text: expect.stringContaining('`id`') },
    });
    expect(registry.effects().filter(({ id }) => typeof id !== 'string')).toEqual([]);
  });

  it('is one of a policy version that was revoked', async () => {
    const activation = { set: 'default', version: 2, notBeforeVersion: 2, hash: 'x' };
    await registry.world.publish({
      name: 'policy-set.activated',
      key: 'default',
      tenant: 'platform',
      data: activation,
    });
    await untilRows('SELECT 1 FROM tool_registry.policy_floor');
    const run = registry.newRun();
    const call = await registry.authorize(run, { id: 'a' });
    expect(await registry.completed(call)).toMatchObject({ status: 'not-dispatched', reason: 'policy-outdated' });
    await registry.authorize(run, { id: 'a' }, { round: 2, claims: { policyVersion: 2 } });
    expect(await registry.completed(call, 2)).toMatchObject({ status: 'succeeded' });
  });
});

function effectsNamed(...names: readonly string[]): readonly string[] {
  return registry.effects().flatMap(({ id }) => (names.includes(id) ? [id] : []));
}

async function untilEffects(count: number): Promise<void> {
  await eventually(() => registry.effects().length === count, { timeoutMs: 30_000 });
}

async function untilRows(query: string): Promise<void> {
  await eventually(async () => (await registry.world.query(query)).length > 0, { timeoutMs: 30_000 });
}
