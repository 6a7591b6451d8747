import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { memoryStore } from '@lineclear/memory-store';
import { createDataSource } from '@lineclear/persistence';
import { eventually, testDatabase } from '@lineclear/test-kit';
import { traceStore } from '@lineclear/trace-store';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bootable, type Platform, startPlatformOf } from './platform.js';

const SERVICES = [bootable(memoryStore), bootable(traceStore)];

describe('a platform in one process', () => {
  let home: string;
  let platform: Platform;

  const start = (overrides: { environment?: Record<string, string>; homeDir?: string; port?: number } = {}) =>
    startPlatformOf(SERVICES, {
      environment: { LOG_LEVEL: 'silent', LINECLEAR_PORT: '0', ...overrides.environment },
      projectDir: home,
      homeDir: overrides.homeDir ?? home,
      batch: 'b1',
      ...(overrides.port !== undefined && { port: overrides.port }),
    });

  beforeAll(async () => {
    home = await mkdtemp(join(tmpdir(), 'lineclear-home-'));
    platform = await start();
  });

  afterAll(async () => {
    await platform.stop();
    await rm(home, { recursive: true, force: true });
  });

  const get = async (path: string, roles?: string[], tenant = 'acme') => {
    const headers =
      roles === undefined
        ? {}
        : { authorization: `Bearer ${await platform.issuer.issue({ tenant, subject: 'ann', roles, scopes: [] })}` };
    const answer = await fetch(`${platform.url}${path}`, { headers });
    const text = await answer.text();
    const isJson = (answer.headers.get('content-type') ?? '').includes('json');
    return {
      status: answer.status,
      body: (isJson ? JSON.parse(text) : text) as unknown,
      type: answer.headers.get('content-type'),
    };
  };

  it('serves every service on one port of loopback', async () => {
    expect(new URL(platform.url).hostname).toBe('127.0.0.1');
    expect(await get('/v1/facts', [])).toMatchObject({ status: 200, body: { items: [] } });
    expect(await get('/v1/audit', ['auditor'])).toMatchObject({ status: 200, body: { items: [] } });
    expect(await get('/v1/runs/run_1/timeline', [])).toMatchObject({ status: 404, body: { code: 'not-found' } });
    expect(await get('/v1/facts')).toMatchObject({ status: 401, body: { code: 'unauthorized' } });
    expect(await get('/v1/nothing', [])).toMatchObject({
      status: 404,
      body: { code: 'not-found', detail: expect.stringContaining('/docs') },
    });
  });

  it('merges what all services have', async () => {
    expect(await get('/health')).toMatchObject({ status: 200, body: { status: 'ok' } });
    expect(await eventually(async () => (await get('/ready')).status === 200)).toBe(true);
    const docs = (await get('/docs/openapi.json')).body as { paths: object };
    expect(Object.keys(docs.paths)).toEqual(expect.arrayContaining(['/v1/facts', '/v1/audit', '/v1/parked/{id}']));
    expect((await get('/docs')).body).toContain('GET /v1/runs/{id}/tree');
    const metrics = await get('/metrics');
    expect(metrics.type).toContain('text/plain');
    expect(metrics.body).toMatch(/lineclear_lane_commits.*service="trace-store"/);
    expect(metrics.body).toMatch(/process_memory_usage/);
    expect(await get('/v1/parked', ['operator'])).toMatchObject({ status: 200, body: { items: [] } });
    expect((await get('/v1/parked', ['clerk'])).status).toBe(403);
    expect((await get('/v1/parked')).status).toBe(401);
    expect((await get('/v1/parked/trace-store.x', ['operator'])).status).toBe(404);
    expect((await get('/v1/parked/nobody.x', ['operator'])).status).toBe(404);
  });

  it('shows the public key of the development issuer and nothing of the private one', async () => {
    const { body } = await get('/dev/jwks.json');
    expect(body).toMatchObject({ keys: [{ kty: 'OKP', crv: 'Ed25519' }] });
    expect(JSON.stringify(body)).not.toContain('"d"');
  });

  it('says where it runs in instance.json', async () => {
    const instance = JSON.parse(await readFile(join(home, 'instance.json'), 'utf8')) as unknown;
    const self = [{ pid: process.pid, url: platform.url }];
    expect(instance).toEqual({
      url: platform.url,
      services: { 'memory-store': self, 'trace-store': self },
      batch: 'b1',
      kafka: null,
    });
  });

  it('refuses a second platform on the same data folder, by name', async () => {
    await expect(start()).rejects.toMatchObject({ code: 'folder-in-use', message: expect.stringContaining(home) });
    expect((await get('/health')).status).toBe(200);
  });

  it('stops cleanly and goes on where it left off', async () => {
    const { keys } = platform.issuer.jwks();
    const begun = performance.now();
    await Promise.all([platform.stop(), platform.stop()]);
    expect(performance.now() - begun).toBeLessThan(10_000);
    await expect(fetch(platform.url)).rejects.toThrow('fetch failed');
    await expect(stat(join(home, 'instance.json'))).rejects.toThrow(/ENOENT/);
    platform = await start();
    expect(platform.issuer.jwks().keys).toEqual(keys);
    expect((await get('/v1/audit/verify', ['auditor'])).body).toMatchObject({ whole: true });
  });

  it('takes a free port when the usual one is taken, and refuses when it was asked for one', async () => {
    const blocker = createServer().listen(0, '127.0.0.1');
    await once(blocker, 'listening');
    const { port } = blocker.address() as { port: number };
    const other = await mkdtemp(join(tmpdir(), 'lineclear-other-'));
    await expect(start({ homeDir: other, environment: { LINECLEAR_PORT: String(port) } })).rejects.toMatchObject({
      code: 'address-in-use',
      message: expect.stringContaining(`port ${port}`),
    });
    blocker.close();
    await rm(other, { recursive: true });
  });

  it('works on a given PostgreSQL, and refuses that of another installation or shard count', async () => {
    const { user, password, host, port, database } = await (await testDatabase()).createDatabase();
    const environment = { DATABASE_URL: `postgres://${user}:${password}@${host}:${port}/${database}` };
    const [one, two] = await Promise.all(['one', 'two'].map((name) => mkdtemp(join(tmpdir(), `lineclear-${name}-`))));
    const first = await start({ homeDir: one ?? '', environment });
    expect((await fetch(`${first.url}/health`)).status).toBe(200);
    await expect(start({ homeDir: one ?? '', environment })).rejects.toMatchObject({ code: 'folder-in-use' });
    await first.stop();
    await expect(start({ homeDir: two ?? '', environment })).rejects.toMatchObject({ code: 'database-not-ours' });
    const source = await createDataSource(
      { user, password, host, port, database, schema: 'trace_store', tls: 'off' },
      [],
    );
    await source.query('UPDATE installation SET shard_count = 12');
    await source.destroy();
    await expect(start({ homeDir: one ?? '', environment })).rejects.toMatchObject({ code: 'wrong-shard-count' });
    await expect(start({ homeDir: two ?? '', environment: { DATABASE_URL: 'mysql://x' } })).rejects.toMatchObject({
      code: 'bad-config',
    });
    await Promise.all([one, two].map((folder) => rm(folder ?? '', { recursive: true, force: true })));
  });

  it('says so when its PostgreSQL ends', async () => {
    const pid = Number((await readFile(join(home, 'postgres', 'data', 'postmaster.pid'), 'utf8')).split('\n')[0]);
    const killer = spawn('kill', ['-9', String(pid)]);
    await once(killer, 'exit');
    expect(await platform.failed).toMatchObject({ code: 'database-unavailable' });
    const { status, body } = await get('/ready');
    expect([status, JSON.stringify(body)]).toEqual([503, expect.stringContaining('the database does not answer')]);
    await platform.stop();
  });
});
