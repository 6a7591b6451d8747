import { type EventName, eventType } from '@lineclear/contracts';
import { type HostedService, startHosted } from '@lineclear/host/testing';
import { eventually, testDatabase } from '@lineclear/test-kit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { traceStore } from './trace-store.js';

const ANN = { tenant: 'acme', subject: 'ann' };
const OTTO = { tenant: 'acme', subject: 'otto', roles: ['operator'] };
const EVE = { tenant: 'other', subject: 'eve', roles: ['operator', 'auditor'] };
const CALL = { callId: 'run_1-1-0', turn: 1, index: 0, round: 1, stage: 'first' as const };
const TOTALS = {
  steps: 1,
  turns: 1,
  usage: { uncached: 1, cacheRead: 0, cacheWrite: 0, output: 1, reasoning: 0, estimated: false },
  costMicros: 1,
  toolCalls: 1,
  approvals: 0,
  effects: 1,
  unknown: 0,
  wallMs: 1,
  activeMs: 1,
};

interface Listed {
  readonly items: readonly Readonly<Record<string, unknown>>[];
  readonly next?: string;
}

describe('the trace store as a service', () => {
  let hosted: HostedService;

  beforeAll(async () => {
    hosted = await startHosted(traceStore, { database: await (await testDatabase()).createDatabase(), port: 0 });
  });

  afterAll(async () => {
    await hosted.stop();
  });

  const get = async (caller: Parameters<HostedService['call']>[0], url: string) => hosted.call(caller, 'GET', url);
  const archived = (runId: string, count: number) =>
    eventually(async () => {
      const { body } = await get(ANN, `/v1/runs/${runId}/timeline`);
      return (body as Listed).items?.length === count ? (body as Listed).items : false;
    });
  const audited = (caller: typeof OTTO, count: number) =>
    eventually(async () => {
      const { items } = (await get(caller, '/v1/audit?limit=1000')).body as Listed;
      return items.length >= count ? items : false;
    });

  async function publishRun(runId: string, tenant = 'acme'): Promise<void> {
    const call = { ...CALL, callId: `${runId}-1-0` };
    await hosted.world.publish(
      { name: 'toolset.resolved', key: runId, tenant, data: { toolsetHash: 'h', tools: [] } },
      { id: `${runId}-toolset` },
    );
    await hosted.world.publish(
      {
        name: 'tool-call.denied',
        key: runId,
        tenant,
        data: {
          ...call,
          decisionId: 'dec_1',
          tool: 'erp.post',
          rules: ['r'],
          reason: 'no',
          terminal: false,
          policyVersion: 1,
        },
      },
      { id: `${runId}-denied` },
    );
    await hosted.world.publish(
      {
        name: 'run.finished',
        key: runId,
        tenant,
        data: { inputs: [], state: 'answered', reason: 'done', totals: TOTALS },
      },
      { id: `${runId}-finished` },
    );
  }

  it('shows a run as timeline, tree and recorded history, to its tenant alone', async () => {
    await publishRun('run_1');
    const items = await archived('run_1', 3);
    expect(new Set(items.map(({ name }) => name))).toEqual(
      new Set(['run.finished', 'tool-call.denied', 'toolset.resolved']),
    );
    expect((await get(ANN, '/v1/runs/run_1/tree')).body).toMatchObject({
      runId: 'run_1',
      state: 'answered',
      turns: [{ turn: 1, calls: [{ tool: 'erp.post', status: 'denied', reason: 'no' }] }],
    });
    const history = await get(ANN, '/v1/runs/run_1/events.jsonl');
    expect(history.headers['content-type']).toBe('application/jsonl');
    const lines = String(history.body)
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(lines).toHaveLength(3);
    expect(lines[0]).toMatchObject({ specversion: '1.0', subject: 'run_1', tenant: 'acme', data: expect.any(Object) });
    for (const path of ['timeline', 'tree', 'events.jsonl']) {
      expect((await get(EVE, `/v1/runs/run_1/${path}`)).status).toBe(404);
      expect((await get(ANN, `/v1/runs/run_x/${path}`)).status).toBe(404);
      expect((await get(null, `/v1/runs/run_1/${path}`)).status).toBe(401);
    }
  });

  it('archives an event once, however often it comes, and audits it once', async () => {
    const facts = async (runId: string) =>
      ((await get(OTTO, `/v1/audit?subject=${runId}`)).body as Listed).items.length;
    await publishRun('run_2');
    await eventually(async () => (await facts('run_2')) === 2);
    await publishRun('run_2');
    await publishRun('run_3');
    await eventually(async () => (await facts('run_3')) === 2);
    expect(((await get(ANN, '/v1/runs/run_2/timeline')).body as Listed).items).toHaveLength(3);
    expect(await facts('run_2')).toBe(2);
  });

  it('archives types that this version does not know', async () => {
    const type = 'lineclear.run.forked.v3';
    await publishRun('run_4');
    const [sample] = await hosted.world.query<{ headers: string }>(
      "SELECT headers FROM outside.outbox WHERE id = 'run_4-finished'",
    );
    const headers = {
      ...(JSON.parse(sample?.headers ?? '{}') as Record<string, string>),
      ce_type: type,
      ce_id: 'later-1',
    };
    await hosted.world.publishRaw({ topic: 'runs', key: 'run_4', headers, value: '{"from":{"step":2}}' });
    expect((await archived('run_4', 4)).find(({ name }) => name === type)).toMatchObject({
      data: { from: { step: 2 } },
    });
  });

  it('keeps one whole chain per tenant and tells the world of each record', async () => {
    await publishRun('run_5');
    await publishRun('run_6', 'other');
    await eventually(async () => ((await get(OTTO, '/v1/audit?subject=run_5')).body as Listed).items.length === 2);
    const others = await audited(EVE, 2);
    expect(others.map(({ seq, subject }) => [seq, subject])).toEqual([
      [1, 'run_6'],
      [2, 'run_6'],
    ]);
    const own = await audited(OTTO, 4);
    expect(own.map(({ seq }) => seq)).toEqual(own.map((_, n) => n + 1));
    const verdict = (await get(OTTO, '/v1/audit/verify')).body as { records: number };
    expect(verdict).toEqual({ whole: true, records: expect.any(Number), firstBroken: null });
    expect(verdict.records).toBeGreaterThanOrEqual(own.length);
    const emitted = await eventually(async () => {
      const events = (await hosted.world.events('trace-store')).filter((event) => event.tenant === 'other');
      return events.length === 2 ? events : false;
    });
    expect(emitted).toMatchObject(
      others.map(({ seq, hash }) => ({ name: 'audit.recorded', subject: 'other', data: { seq, hash } })),
    );
  });

  it('pages the audit, and shows it to operators and auditors only', async () => {
    await publishRun('run_7');
    await audited(OTTO, 3);
    const first = (await get(OTTO, '/v1/audit?limit=2')).body as Listed;
    expect(first).toMatchObject({ items: [{ seq: 1 }, { seq: 2 }], next: '2' });
    expect((await get(OTTO, '/v1/audit?limit=1&after=2')).body).toMatchObject({ items: [{ seq: 3 }] });
    for (const url of ['/v1/audit', '/v1/audit/verify']) {
      expect((await get(ANN, url)).status).toBe(403);
      expect((await get({ ...ANN, roles: ['auditor'] }, url)).status).toBe(200);
    }
  });

  it('names the difference when a run is replayed, for operators', async () => {
    await publishRun('run_8');
    await archived('run_8', 3);
    expect((await hosted.call(ANN, 'POST', '/v1/runs/run_8/replay', {})).status).toBe(403);
    expect((await hosted.call(EVE, 'POST', '/v1/runs/run_8/replay', {})).status).toBe(404);
    const verdict = await hosted.call(OTTO, 'POST', '/v1/runs/run_8/replay', {});
    expect(verdict).toMatchObject({
      status: 200,
      body: { identical: false, firstDifference: { event: 'run.finished' } },
    });
  });

  it('streams the events of a tenant as they come, from where the reader left off', async () => {
    const stop = new AbortController();
    const follow = async (headers: Record<string, string>, query: string) => {
      const token = await hosted.token(ANN);
      const url = `${hosted.service.url}/v1/events${query}`;
      const answer = await fetch(url, {
        headers: { authorization: `Bearer ${token}`, ...headers },
        signal: stop.signal,
      });
      expect(answer.headers.get('content-type')).toContain('text/event-stream');
      return (answer.body ?? new ReadableStream<Uint8Array>()).pipeThrough(new TextDecoderStream()).getReader();
    };
    const until = async (reader: ReadableStreamDefaultReader<string>, part: string) => {
      let text = '';
      while (!text.includes(part)) text += (await reader.read()).value ?? '';
      return text;
    };
    const live = await follow({}, '');
    await until(live, ': open');
    await publishRun('run_9', 'other');
    await publishRun('run_9a');
    const text = await until(live, 'run_9a-finished');
    expect(text).not.toContain('"other"');
    const name: EventName = 'tool-call.denied';
    expect(text).toContain(`event: ${eventType(name)}\ndata: {"specversion":"1.0"`);
    const position = /id: (\d+)\nevent: lineclear.toolset/.exec(text)?.[1] ?? '';
    const again = await until(await follow({ 'last-event-id': position }, '?runId=run_9a'), 'finished');
    expect(again).not.toContain('toolset');
    stop.abort();
  });

  it('misses nothing of what happened while it was away, and its chain goes on', async () => {
    const before = ((await get(OTTO, '/v1/audit/verify')).body as { records: number }).records;
    await hosted.restart(() => publishRun('run_away'));
    await archived('run_away', 3);
    await eventually(async () => ((await get(OTTO, '/v1/audit?subject=run_away')).body as Listed).items.length === 2);
    const verdict = (await get(OTTO, '/v1/audit/verify')).body as { records: number };
    expect(verdict).toMatchObject({ whole: true });
    expect(verdict.records).toBeGreaterThanOrEqual(before + 2);
  });

  it('refuses input that it does not expect', async () => {
    for (const url of ['/v1/audit?limit=0', '/v1/audit?tenant=other', '/v1/audit?after=x', '/v1/events?after=-1'])
      expect((await get(OTTO, url)).status).toBe(400);
    expect((await get(OTTO, `/v1/runs/${'x'.repeat(300)}/timeline`)).status).toBe(400);
  });
});
