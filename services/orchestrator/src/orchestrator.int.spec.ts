import type { EventData } from '@lineclear/contracts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  authorized,
  completed,
  denied,
  fenced,
  granted,
  neverCompletes,
  obliging,
  onlyRegistry,
  referred,
} from './testing/peers.testsuite.js';
import { agentFile, INBOX, runOf, TestOrchestrator } from './testing/test-orchestrator.testsuite.js';

type Proposed = EventData<'tool-call.proposed'>;

describe('a run', () => {
  let test: TestOrchestrator;

  beforeAll(async () => {
    const agents = [
      agentFile('thrifty', { costMicros: 130 }),
      agentFile('brief', { steps: 2 }),
      agentFile('recalling', {}, 'memory: {recall: 3}'),
    ];
    test = await TestOrchestrator.start({ peer: obliging, agents });
  });

  afterAll(() => test.stop());

  it('goes from task to answer', async () => {
    expect(await test.submit('t1', { calls: 1 })).toEqual({ ok: true, value: { runId: runOf('t1'), known: false } });
    await test.until('t1', 'answered');
    expect(test.eventsOf('t1')).toEqual([
      'run.started',
      'model-call.completed',
      'tool-call.proposed',
      'model-call.completed',
      'run.finished',
    ]);
    expect(await test.event('t1', 'run.finished')).toMatchObject({
      state: 'answered',
      answer: 'done after 1',
      totals: { steps: 2, turns: 2, toolCalls: 1, costMicros: 30, usage: { uncached: 20, output: 10 } },
    });
    expect(await test.rows('SELECT 1 FROM orchestrator.job UNION ALL SELECT 1 FROM orchestrator.timer')).toEqual([]);
  });

  it('acts with the roles that caller and agent share', async () => {
    await test.submit('roles', {}, { by: { ...INBOX, roles: ['cfo', 'clerk'] } });
    expect(await test.event('roles', 'run.started')).toMatchObject({
      principal: { subject: 'inbox', roles: ['clerk'] },
    });
  });

  it('waits for parallel calls, whatever becomes of each', async () => {
    await test.submit('parallel', { parallel: true }, { peer: onlyRegistry });
    const [first, second, third] = await Promise.all(
      [1, 2, 3].map((n) => test.event<Proposed>('parallel', 'tool-call.proposed', n)),
    );
    if (!first || !second || !third) throw new Error('three calls were proposed');
    await test.publish('parallel', authorized(third), denied(second), authorized(first), completed(third));
    expect(test.eventsOf('parallel').filter((name) => name === 'model-call.completed')).toHaveLength(1);
    await test.publish('parallel', completed(first, { status: 'failed', result: { text: 'no such order' } }));
    await test.until('parallel', 'answered');
    const { state } = await test.stored('parallel');
    const results = state.window.messages
      .toArray()
      .flatMap((message) => (message.role === 'tool' ? [message.outcome] : []));
    expect(results).toEqual(['failed', 'denied', 'succeeded']);
  });

  it('waits for a person, whose edited arguments are what the model is told', async () => {
    await test.submit('asking', { calls: 1 }, { peer: onlyRegistry });
    const call = await test.event<Proposed>('asking', 'tool-call.proposed');
    await test.publish('asking', referred(call));
    await test.until('asking', 'awaiting');
    const edited: Proposed = { ...call, stage: 'approved', arguments: { n: 7 }, digest: 'digest of the edited call' };
    await test.publish('asking', granted(call), authorized(edited, true), completed(edited));
    await test.until('asking', 'answered');
    const told = (await test.stored('asking')).state.window.messages.toArray().find(({ role }) => role === 'tool');
    expect(told?.text).toContain('{"n":7}');
    expect(await test.event('asking', 'run.finished')).toMatchObject({ totals: { approvals: 1, toolCalls: 1 } });
  });

  it('proposes a call again when its authorization expired, at no step', async () => {
    await test.submit('expired', { calls: 1 }, { peer: onlyRegistry });
    const call = await test.event<Proposed>('expired', 'tool-call.proposed');
    await test.publish(
      'expired',
      authorized(call),
      completed(call, { status: 'not-dispatched', reason: 'authorization-expired' }),
    );
    const again = await test.event<Proposed>('expired', 'tool-call.proposed', 2);
    expect(again).toMatchObject({ callId: call.callId, digest: call.digest, round: 2, stage: 'first' });
    await test.publish('expired', authorized(again), completed(again));
    await test.until('expired', 'answered');
    expect(await test.event('expired', 'run.finished')).toMatchObject({ totals: { steps: 2, toolCalls: 1 } });
  });

  it('charges one step for a malformed reply and asks again', async () => {
    await test.submit('malformed', { malformed: true });
    await test.until('malformed', 'answered');
    expect(await test.event('malformed', 'model-call.completed')).toMatchObject({ step: 1, status: 'malformed' });
    expect(await test.event('malformed', 'run.finished')).toMatchObject({ totals: { steps: 2 } });
  });

  it('fails when the provider does', async () => {
    await test.submit('failing', { fail: true });
    await test.until('failing', 'failed');
    expect(await test.event('failing', 'run.finished')).toMatchObject({
      reason: expect.stringContaining('the provider is away'),
    });
  });

  it('goes on without the memory when it says nothing for two seconds', async () => {
    await test.submit('recalling', {}, { agent: 'recalling' });
    await test.until('recalling', 'answered');
    expect(await test.event('recalling', 'model-call.completed')).toMatchObject({
      inputs: [{ kind: 'event' }, { kind: 'timer', name: 'recall' }, { kind: 'job' }],
    });
  });

  it('does not make the call that its money would not cover, and says what it found', async () => {
    await test.submit('thrifty', { endless: true }, { agent: 'thrifty' });
    await test.until('thrifty', 'budget_stop');
    const finished = await test.event<EventData<'run.finished'>>('thrifty', 'run.finished');
    expect(finished).toMatchObject({
      reason: expect.stringContaining('costMicros'),
      totals: { costMicros: finished.totals.steps * 15 },
    });
    const { ledger } = (await test.stored('thrifty')).state;
    expect(JSON.stringify(ledger)).toContain('"limit":130');
    expect(finished.totals.costMicros).toBeLessThanOrEqual(130);
  });

  it('takes exactly as many steps as it may', async () => {
    await test.submit('brief', { endless: true }, { agent: 'brief' });
    await test.until('brief', 'budget_stop');
    expect(test.eventsOf('brief').filter((name) => name === 'model-call.completed')).toHaveLength(2);
    expect(test.eventsOf('brief').filter((name) => name === 'run.finished')).toHaveLength(1);
  });

  it('stops during a tool call: fences it, takes its result, and is cancelled', async () => {
    let fence = (): void => undefined;
    const asked = new Promise<void>((resolve) => (fence = resolve));
    await test.submit(
      'cancelled',
      { calls: 1 },
      {
        peer: (event, name) => {
          if (name !== 'run.stop-started') return neverCompletes(event, name);
          fence();
          return undefined;
        },
      },
    );
    const call = await test.event<Proposed>('cancelled', 'tool-call.proposed');
    await test.until('cancelled', 'executing');
    expect(await test.cancel('cancelled')).toMatchObject({ ok: true, value: { state: 'stopping' } });
    await asked;
    const stop = await test.event<EventData<'run.stop-started'>>('cancelled', 'run.stop-started');
    expect(stop).toMatchObject({ n: 1, target: 'cancelled', by: 'inbox' });
    await test.publish('cancelled', fenced(stop, [call.callId]), completed(call));
    expect(await test.until('cancelled', 'cancelled')).toMatchObject({ reason: expect.stringContaining('enough') });
    expect(await test.cancel('cancelled')).toMatchObject({ ok: false, failure: { code: 'already-ended' } });
    expect(test.eventsOf('cancelled').filter((name) => name === 'run.finished')).toHaveLength(1);
  });

  it('is cancelled at once during a model call, and the call is aborted', async () => {
    await test.submit('thinking', { hang: true });
    await test.until('thinking', 'reasoning');
    expect(await test.cancel('thinking')).toMatchObject({ ok: true, value: { state: 'cancelled' } });
    expect(await test.event('thinking', 'run.finished')).toMatchObject({ state: 'cancelled', totals: { steps: 0 } });
  });

  it('ends as its policy says when a denial is terminal', async () => {
    await test.submit('terminal', { calls: 1 }, { peer: onlyRegistry });
    await test.publish('terminal', denied(await test.event<Proposed>('terminal', 'tool-call.proposed'), true));
    expect(await test.until('terminal', 'failed')).toMatchObject({ reason: expect.stringContaining('not allowed') });
  });

  it('does not exist for another tenant', async () => {
    await test.submit('private', { hang: true });
    const stranger = { ...INBOX, tenant: 'globex' };
    expect(await test.cancel('private', stranger)).toMatchObject({ ok: false, failure: { code: 'not-found' } });
    expect(await test.cancel('nothing')).toMatchObject({ ok: false, failure: { code: 'not-found' } });
    await test.cancel('private');
  });
});
