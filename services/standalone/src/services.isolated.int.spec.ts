import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SERVICES } from '@lineclear/contracts';
import { eventually } from '@lineclear/test-kit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Platform } from './platform.js';
import { startPlatform } from './services.js';

const PROJECT = {
  'agents/greeter.yaml': `agent: greeter
version: 1
prompt: Greet.
model: scripted/greeter
tools: []
budget: {steps: 3, tokens: 9000, costMicros: 0, toolCalls: 1, activeMs: 60000, wallMs: 60000}
`,
  'models/greeter.yaml': `model: scripted/greeter
script:
  - say: "hello"
`,
  'policies/none.yaml': `policy: none
version: 1
rules: []
`,
};

const ANN = { tenant: 'acme', subject: 'ann', roles: ['operator'], scopes: [] };

describe('the whole platform in one process', () => {
  let folder: string;
  let platform: Platform;
  let token: string;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'lineclear-project-'));
    for (const [name, text] of Object.entries(PROJECT)) {
      await mkdir(join(folder, name, '..'), { recursive: true });
      await writeFile(join(folder, name), text);
    }
    platform = await startPlatform({
      environment: { LOG_LEVEL: 'error' },
      projectDir: folder,
      homeDir: join(folder, 'home'),
      port: 0,
    });
    token = await platform.issuer.issue(ANN);
  });

  afterAll(async () => {
    await platform?.stop();
    await rm(folder, { recursive: true, force: true });
  });

  const call = async (path: string, init: RequestInit = {}) => {
    const answer = await fetch(`${platform.url}${path}`, {
      ...init,
      headers: { authorization: `Bearer ${token}`, ...(init.headers as Record<string, string> | undefined) },
    });
    return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
  };

  it('runs all six services and is ready', async () => {
    expect(platform.services.map(({ name }) => name).toSorted()).toEqual([...SERVICES].toSorted());
    expect(await eventually(async () => (await call('/ready')).status === 200)).toBe(true);
  });

  it.each(['/v1/runs', '/v1/decisions', '/v1/approvals', '/v1/facts', '/v1/audit', '/v1/parked'])(
    'serves %s',
    async (path) => {
      expect(await call(path)).toMatchObject({ status: 200, body: { items: [] } });
    },
  );

  it.each(['/v1/tools', '/v1/calls?status=unknown', '/.well-known/jwks.json', '/dev/jwks.json'])(
    'serves %s',
    async (path) => {
      expect(await call(path)).toMatchObject({ status: 200 });
    },
  );

  it('answers no route without a token but those that are public', async () => {
    const open = new Set<string>();
    for (const service of platform.services)
      for (const [path, operations] of Object.entries(service.openApi().paths))
        for (const method of Object.keys(operations)) {
          const url = path.replaceAll(/\{\w+\}/g, 'x');
          const { status } = await service.inject({ method: method === 'post' ? 'POST' : 'GET', url });
          if (status !== 401) open.add(`${method} ${path}`);
        }
    expect([...open].toSorted()).toEqual(
      ['/.well-known/jwks.json', '/docs', '/docs/openapi.json', '/health', '/metrics', '/ready'].map(
        (path) => `get ${path}`,
      ),
    );
  });

  it('takes a task to its end and replays it', async () => {
    const submitted = await call('/v1/tasks', {
      method: 'POST',
      headers: { 'content-type': 'application/cloudevents+json' },
      body: JSON.stringify({
        specversion: '1.0',
        id: 't-1',
        source: '/test',
        type: 'lineclear.task.submit.v1',
        tenant: 'acme',
        data: { agent: 'greeter', input: { name: 'Ann' } },
      }),
    });
    expect(submitted.status).toBe(201);
    const path = `/v1/runs/${String(submitted.body['runId'])}`;
    const run = await eventually(async () => {
      const { body } = await call(path);
      return body['state'] === 'preparing' || body['state'] === 'reasoning' ? false : body;
    });
    expect(run).toMatchObject({ state: 'answered' });
    await eventually(async () => {
      const { body } = await call(`${path}/tree`);
      return body['state'] === 'answered';
    });
    expect(await call(`${path}/replay`, { method: 'POST' })).toMatchObject({
      status: 200,
      body: { identical: true, firstDifference: null },
    });
    expect(await call('/v1/audit/verify')).toMatchObject({ body: { whole: true } });
    expect(await call(path.replace(/.$/, 'x'))).toMatchObject({ status: 404 });
  });
});
