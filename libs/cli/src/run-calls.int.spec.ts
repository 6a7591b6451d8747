import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { LineclearClient, type RunView } from '@lineclear/client';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { callsOfRun } from './run-calls.js';

const POST = { callId: 'run_1-1-0', tool: 'erp.post', reason: null };
const EVENTS = [
  { id: 'a', source: 'orchestrator', name: 'tool-call.proposed', data: { arguments: { amount: 1 } } },
  { id: 'a', source: 'policy-engine', name: 'tool-call.referred', data: { arguments: { amount: 1 }, rules: ['big'] } },
  { id: 'b', source: 'approval-service', name: 'approval.granted', data: { arguments: { amount: 2 } } },
  { id: 'c', source: 'policy-engine', name: 'tool-call.authorized', data: { arguments: { amount: 2 }, rules: ['ok'] } },
  { id: 'd', source: 'tool-registry', name: 'tool-call.completed', data: { status: 'succeeded' } },
];
const REFUSED = { id: 'e', source: 'orchestrator', name: 'tool-call.refused', data: { reason: 'unknown-tool' } };

const runOf = (part: Partial<RunView>) =>
  ({ runId: 'run_1', calls: [], finishedAt: null, ...part }) as unknown as RunView;

describe('the calls of a run', () => {
  let server: Server;
  let answers: Record<string, unknown>;
  let client: LineclearClient;

  beforeAll(async () => {
    server = createServer((request, response) => {
      const body = answers[request.url?.split('/').at(-1) ?? ''];
      response.writeHead(body === undefined ? 404 : 200, { 'content-type': 'application/json' });
      response.end(JSON.stringify(body ?? { code: 'not-found', detail: 'no such run', details: {} }));
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    client = new LineclearClient({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` });
  });

  beforeEach(() => {
    const calls = [{ ...POST, status: 'succeeded', events: EVENTS }];
    const wrong = {
      callId: 'run_1-2-0',
      tool: 'erp.nothing',
      status: 'refused',
      reason: 'unknown-tool',
      events: [REFUSED],
    };
    answers = {
      tree: { finishedAt: '2026-11-30T10:00:00.000Z', turns: [{ calls }, { calls: [wrong] }] },
      timeline: { items: [...EVENTS, REFUSED] },
    };
  });

  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });

  it('are those of all turns after its end, with the last decision and the arguments that ran', async () => {
    expect(await callsOfRun(client, runOf({ finishedAt: '2026-11-30T10:00:00.000Z' }))).toEqual({
      whole: true,
      calls: [
        { ...POST, arguments: { amount: 2 }, verdict: 'authorized', rules: ['ok'], status: 'succeeded' },
        {
          callId: 'run_1-2-0',
          tool: 'erp.nothing',
          arguments: null,
          verdict: null,
          rules: [],
          status: 'refused',
          reason: 'unknown-tool',
        },
      ],
    });
  });

  it('of the present turn are as the orchestrator has them', async () => {
    const present = {
      callId: 'run_1-2-0',
      tool: 'erp.x',
      arguments: {},
      verdict: 'referred',
      rules: ['r'],
      status: 'referred',
    };
    const next = { ...present, callId: 'run_1-2-1', status: 'proposed' };
    const { calls, whole } = await callsOfRun(client, runOf({ calls: [present, next] }));
    expect(whole).toBe(true);
    expect(calls.map(({ callId, status }) => [callId, status])).toEqual([
      ['run_1-1-0', 'succeeded'],
      ['run_1-2-0', 'referred'],
      ['run_1-2-1', 'proposed'],
    ]);
  });

  it('are not whole while the trace store lacks the end of an ended run', async () => {
    const ended = runOf({ finishedAt: '2026-11-30T10:00:00.000Z' });
    answers['tree'] = { finishedAt: null, turns: [] };
    expect(await callsOfRun(client, ended)).toEqual({ calls: [], whole: false });
    answers = {};
    expect(await callsOfRun(client, ended)).toEqual({ calls: [], whole: false });
    expect(await callsOfRun(client, runOf({}))).toEqual({ calls: [], whole: true });
  });

  it('are not shown when the trace store cannot say', async () => {
    answers['tree'] = { turns: 'none' };
    await expect(callsOfRun(client, runOf({}))).rejects.toThrow('turns');
  });
});
