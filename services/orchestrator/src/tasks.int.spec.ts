import { sha256Hex } from '@lineclear/contracts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { obliging } from './testing/peers.testsuite.js';
import { runOf, TestOrchestrator } from './testing/test-orchestrator.testsuite.js';

describe('a task', () => {
  let test: TestOrchestrator;

  beforeAll(async () => {
    test = await TestOrchestrator.start({ peer: obliging });
  });

  afterAll(() => test.stop());

  const refusals = (taskId: string) => test.eventsOf(taskId).filter((name) => name === 'task.refused');

  it('sent twice is one run', async () => {
    const answers = await Promise.all([1, 2, 3].map(() => test.submit('twice', { a: 1 })));
    const value = { runId: runOf('twice'), known: true };
    expect(
      answers.filter((answer) => answer.ok && JSON.stringify(answer.value) === JSON.stringify(value)),
    ).toHaveLength(2);
    await test.until('twice', 'answered');
    expect(await test.submit('twice', { a: 1 })).toEqual({ ok: true, value });
    expect(test.eventsOf('twice').filter((name) => name === 'run.started')).toHaveLength(1);
  });

  it('with the id of another is refused once, and the run goes on', async () => {
    await test.submit('changed', { a: 1 });
    for (const _ of [1, 2, 3])
      expect(await test.submit('changed', { a: 2 })).toMatchObject({
        ok: false,
        failure: { code: 'payload-mismatch', retryable: false },
      });
    await test.submit('changed', { a: 3 });
    await test.until('changed', 'answered');
    await test.event('changed', 'task.refused', 2);
    expect(refusals('changed')).toHaveLength(2);
    const { state } = await test.stored('changed');
    expect(state.payloadHash).toBe(sha256Hex('{"agent":"clerk","input":{"a":1}}'));
  });

  it.each<[string, string, Record<string, unknown>]>([
    [
      'of an unknown agent',
      '{"agent":"clark","input":{}}',
      { code: 'invalid-message', details: { where: 'data.agent', expected: '`clerk`' } },
    ],
    ['that is not JSON', 'not json', { code: 'invalid-message', details: { where: 'data', expected: 'JSON' } }],
    ['with U+0000', String.raw`{"agent":"clerk","input":{"a":"\u0000"}}`, { code: 'invalid-message' }],
    ['that is too large', `{"agent":"clerk","input":{"a":"${'x'.repeat(300_000)}"}}`, { code: 'too-large' }],
    ['without an input', '{"agent":"clerk"}', { code: 'invalid-message', details: { where: 'data.input' } }],
    [
      'with an unknown field',
      '{"agent":"clerk","input":{},"priority":1}',
      { code: 'invalid-message', details: { where: 'data.priority' } },
    ],
  ])('%s is refused once per payload, with the same answer each time', async (name, body, failure) => {
    for (const _ of [1, 2]) expect(await test.submitText(name, body)).toMatchObject({ ok: false, failure });
    expect(await test.submitText(name, `${body} `)).toMatchObject({ ok: false });
    const refused = await test.event(name, 'task.refused', 2);
    expect(refused).toMatchObject({
      taskId: name,
      taskSource: '/erp/inbox',
      where: expect.any(String),
      next: expect.any(String),
    });
    expect(refusals(name)).toHaveLength(2);
  });

  it('that was refused may come again with a good payload', async () => {
    await test.submitText('repaired', '{"agent":"clark","input":{}}');
    expect(await test.submit('repaired')).toMatchObject({ ok: true, value: { known: false } });
    expect(await test.submitText('repaired', '{"agent":"clark","input":{}}')).toMatchObject({
      ok: false,
      failure: { code: 'invalid-message' },
    });
    await test.until('repaired', 'answered');
    expect(refusals('repaired')).toHaveLength(1);
  });

  it('is another one for another tenant', async () => {
    const by = { tenant: 'globex', subject: 'inbox', roles: [], scopes: [] };
    expect(await test.submit('shared', { a: 1 })).toMatchObject({ value: { known: false } });
    expect(await test.submit('shared', { a: 2 }, { by })).toEqual({
      ok: true,
      value: { runId: runOf('shared', 'globex'), known: false },
    });
  });
});
