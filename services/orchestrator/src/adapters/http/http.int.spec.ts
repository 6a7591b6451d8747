import { rmSync } from 'node:fs';
import { type EventData, runIdOf } from '@lineclear/contracts';
import { type HostedAnswer, type HostedService, startHosted } from '@lineclear/host/testing';
import { eventually, testDatabase } from '@lineclear/test-kit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { orchestrator } from '../../orchestrator.js';
import { authorized, completed, resolved } from '../../testing/peers.testsuite.js';
import { projectFolder } from '../../testing/test-orchestrator.testsuite.js';

const ANN = { tenant: 'acme', subject: 'ann', roles: ['clerk'] };
const EVE = { tenant: 'globex', subject: 'eve', roles: ['clerk', 'operator'] };
type Caller = typeof ANN;

describe('the orchestrator over HTTP', () => {
  const project = projectFolder();
  let hosted: HostedService;

  beforeAll(async () => {
    const database = await (await testDatabase()).createDatabase();
    hosted = await startHosted(orchestrator, { database, environment: { LINECLEAR_PROJECT: project }, port: 0 });
  });

  afterAll(async () => {
    await hosted.stop();
    rmSync(project, { recursive: true });
  });

  const post = async (
    headers: Readonly<Record<string, string>>,
    body: string,
    caller: Caller = ANN,
  ): Promise<HostedAnswer> => {
    const authorization = `Bearer ${await hosted.token(caller)}`;
    const answer = await hosted.service.inject({
      method: 'POST',
      url: '/v1/tasks',
      headers: { authorization, ...headers },
      body,
    });
    return { ...answer, body: JSON.parse(answer.body) as unknown };
  };
  const binary = (id: string, given: Readonly<Record<string, string>> = {}) => ({
    'content-type': 'application/json',
    'ce-specversion': '1.0',
    'ce-type': 'lineclear.task.submit.v1',
    'ce-source': '/test',
    'ce-id': id,
    ...given,
  });
  const data = (input: Record<string, unknown> = { hang: true }) => JSON.stringify({ agent: 'clerk', input });
  const submit = async (id: string, input?: Record<string, unknown>, caller: Caller = ANN): Promise<string> => {
    const answer = await post(binary(id), data(input), caller);
    expect(answer.status).toBe(201);
    return runIdOf(caller.tenant, '/test', id);
  };
  const get = (url: string, caller: Caller | null = ANN) => hosted.call(caller, 'GET', url);
  const refusals = async (taskId: string) =>
    (await hosted.world.events('orchestrator')).filter(
      ({ name, data: refused }) => name === 'task.refused' && (refused as EventData<'task.refused'>).taskId === taskId,
    );
  const play = async (runId: string): Promise<void> => {
    await hosted.world.publish({ key: runId, tenant: 'acme', ...resolved() } as never);
    const proposed = await hosted.world.waitFor(
      'orchestrator',
      ({ name, subject }) => name === 'tool-call.proposed' && subject === runId,
    );
    const call = proposed.data as EventData<'tool-call.proposed'>;
    for (const event of [authorized(call), completed(call)])
      await hosted.world.publish({ key: runId, tenant: 'acme', ...event } as never);
  };

  it('takes a task in binary and in structured mode: created, known, another payload', async () => {
    const runId = runIdOf('acme', '/test', 'modes');
    const created = await post(binary('modes'), data());
    expect([created.status, created.body]).toEqual([201, { runId, taskId: 'modes' }]);
    const event = {
      specversion: '1.0',
      id: 'modes',
      source: '/test',
      type: 'lineclear.task.submit.v1',
      tenant: 'acme',
      data: JSON.parse(data()) as unknown,
    };
    const known = await post({ 'content-type': 'application/cloudevents+json' }, JSON.stringify(event));
    expect([known.status, known.body]).toEqual([200, { runId, taskId: 'modes' }]);
    const other = await post(binary('modes'), data({ other: 1 }));
    expect([other.status, other.body]).toMatchObject([
      409,
      { code: 'payload-mismatch', detail: expect.stringContaining('`modes`') },
    ]);
    expect(await refusals('modes')).toHaveLength(1);
  });

  it.each<[string, Record<string, string>, string, number, Record<string, unknown>]>([
    ['not-json', {}, '%PDF-1.7', 400, { code: 'invalid-message', where: 'data', seen: '%PDF-1.7', expected: 'JSON' }],
    ['a-form', { 'content-type': 'application/x-www-form-urlencoded' }, 'agent=clerk', 400, { where: 'content-type' }],
    [
      'a-scan',
      { 'content-type': 'application/pdf' },
      '%PDF-1.7',
      400,
      { where: 'content-type', seen: 'application/pdf' },
    ],
    ['too-large', {}, data({ scan: 'x'.repeat(300_000) }), 413, { code: 'too-large' }],
    ['version', { 'ce-type': 'lineclear.task.submit.v9' }, data(), 400, { code: 'unsupported-version', where: 'type' }],
    ['specversion', { 'ce-specversion': '0.3' }, data(), 400, { where: 'specversion', seen: '0.3' }],
    ['tenant', { 'ce-tenant': 'globex' }, data(), 403, { code: 'forbidden', where: 'tenant', seen: 'globex' }],
    ['agent', {}, '{"agent":"clark","input":{}}', 400, { where: 'data.agent', seen: 'clark', expected: '`clerk`' }],
    ['empty', {}, '', 400, { where: 'data' }],
  ])(
    'answers %s with what, where, seen, expected and next, and records one refusal',
    async (id, headers, body, status, problem) => {
      for (const _ of [1, 2]) {
        const answer = await post(binary(id, headers), body);
        expect([answer.status, answer.body]).toMatchObject([
          status,
          { detail: expect.any(String), next: expect.any(String), ...problem },
        ]);
      }
      expect(await refusals(id)).toHaveLength(1);
    },
  );

  it('answers an event without a name and records nothing', async () => {
    const answer = await post({ 'content-type': 'application/json' }, data());
    expect([answer.status, answer.body]).toMatchObject([400, { code: 'invalid-message', where: 'ce-specversion' }]);
  });

  it('shows a run to its tenant alone', async () => {
    const runId = await submit('shown', { calls: 1 });
    await play(runId);
    const run = await eventually(async () => {
      const { body } = await get(`/v1/runs/${runId}`);
      return (body as { state: string }).state === 'answered' ? (body as Record<string, unknown>) : false;
    });
    expect(run).toMatchObject({
      runId,
      taskId: 'shown',
      agent: 'clerk',
      state: 'answered',
      parked: false,
      turn: 2,
      answer: 'done after 1',
      budget: { steps: { limit: 5000, spent: 2, reserved: 0 }, costMicros: { spent: 30 } },
      totals: { steps: 2, toolCalls: 1, costMicros: 30 },
      finishedAt: expect.any(String),
    });
    for (const url of [`/v1/runs/${runId}`, `/v1/runs/${runId}/events`]) {
      expect((await get(url, EVE)).status).toBe(404);
      expect((await get(url, null)).status).toBe(401);
    }
    expect((await hosted.call(EVE, 'POST', `/v1/runs/${runId}/cancel`, {})).status).toBe(404);
    expect((await get('/v1/runs', EVE)).body).toEqual({ items: [] });
    expect((await get('/v1/runs/run_nothing')).status).toBe(404);
  });

  it('lists runs newest first, page by page, by state and by task', async () => {
    const ids: string[] = [];
    for (const id of ['list-1', 'list-2', 'list-3']) ids.push(await submit(id));
    const first = (await get('/v1/runs?limit=2')).body as { items: { runId: string }[]; next: string };
    const second = (await get(`/v1/runs?limit=2&after=${encodeURIComponent(first.next)}`)).body as typeof first;
    const seen = [...first.items, ...second.items].map(({ runId }) => runId);
    expect(seen.slice(0, 3)).toEqual(ids.toReversed());
    expect((await get('/v1/runs?taskId=list-2')).body).toMatchObject({
      items: [{ runId: ids[1], state: 'preparing' }],
    });
    expect((await get('/v1/runs?taskId=list-2&state=failed')).body).toEqual({ items: [] });
    for (const query of ['state=lost', 'limit=0', 'after=x', 'color=red'])
      expect((await get(`/v1/runs?${query}`)).status).toBe(400);
  });

  it('cancels a run once', async () => {
    const runId = await submit('cancel');
    const answer = await hosted.call(ANN, 'POST', `/v1/runs/${runId}/cancel`, { reason: 'wrong file' });
    expect([answer.status, answer.body]).toEqual([200, { runId, state: 'cancelled' }]);
    const again = await hosted.call(ANN, 'POST', `/v1/runs/${runId}/cancel`, {});
    expect([again.status, again.body]).toMatchObject([409, { code: 'already-ended' }]);
    expect((await get(`/v1/runs/${runId}`)).body).toMatchObject({
      state: 'cancelled',
      reason: expect.stringContaining('wrong file'),
    });
  });

  it('streams the events of a run: history, then live, then the end', async () => {
    const runId = await submit('streamed', { calls: 1 });
    const url = `${hosted.service.url ?? ''}/v1/runs/${runId}/events`;
    const headers = { authorization: `Bearer ${await hosted.token(ANN)}` };
    const stream = fetch(url, { headers }).then((response) => response.text());
    await play(runId);
    const events = (text: string) => [...text.matchAll(/^event: (.*)$/gm)].map(([, name]) => name);
    const text = await stream;
    expect(events(text)).toEqual([
      'lineclear.run.started.v1',
      'run.state',
      'run.state',
      'lineclear.model-call.completed.v1',
      'lineclear.tool-call.proposed.v1',
      'run.state',
      'run.state',
      'run.state',
      'lineclear.model-call.completed.v1',
      'lineclear.run.finished.v1',
      'run.state',
    ]);
    const third = [...text.matchAll(/^id: (\d+)$/gm)][2]?.[1] ?? '';
    const rest = await (await fetch(url, { headers: { ...headers, 'last-event-id': third } })).text();
    expect(text.endsWith(rest.replace(/^: open\n\n/, ''))).toBe(true);
    expect(events(rest)).toHaveLength(8);
  });

  it('documents its routes', () => {
    const { paths } = hosted.service.openApi();
    expect(Object.keys(paths)).toEqual(
      expect.arrayContaining([
        '/v1/tasks',
        '/v1/runs',
        '/v1/runs/{id}',
        '/v1/runs/{id}/cancel',
        '/v1/runs/{id}/events',
      ]),
    );
  });
});
