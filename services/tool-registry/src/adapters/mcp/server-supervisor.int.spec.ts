import { mkdtempSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { eventually } from '@lineclear/test-kit';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ToolCallJob } from '../../application/run-commands.js';
import { parseToolsFile } from '../../config/tools-file.js';
import type { ServerSight } from '../../domain/observe-server.js';
import { CALL, RUN } from '../../testing/mothers.js';
import { callTool } from './call-tool.js';
import { ServerSupervisor } from './server-supervisor.js';

const ODD = fileURLToPath(new URL('../../testing/odd-server.mjs', import.meta.url));
const NEVER = new AbortController().signal;

let folder: string;
let supervisors: ServerSupervisor[] = [];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'registry-'));
});

afterEach(async () => {
  await Promise.all(supervisors.map((supervisor) => supervisor.stop()));
  supervisors = [];
  rmSync(folder, { recursive: true, force: true });
});

function supervise(env: Readonly<Record<string, string>> = {}, startTimeoutMs = 20_000) {
  const variables = { EFFECTS: join(folder, 'effects.jsonl'), ...env };
  const file = JSON.stringify({
    servers: { odd: { command: ['node', ODD], env: { ...variables, TOKEN: { secret: 'env:TOKEN' } }, startTimeoutMs } },
  });
  const [server] = parseToolsFile(file, 'tools.yaml', { TOKEN: 'token-hunter2' });
  if (server === undefined) throw new Error('no server');
  const sights: ServerSight[] = [];
  const supervisor = new ServerSupervisor(server, {
    cwd: folder,
    environment: process.env,
    report: (_, sight) => sights.push(sight),
  });
  supervisors.push(supervisor);
  supervisor.start();
  return { supervisor, sights };
}

const names = (sight: ServerSight | undefined) =>
  sight !== undefined && 'tools' in sight ? sight.tools.map(({ name }) => name) : sight?.obstacle;

async function call(supervisor: ServerSupervisor, mode: string, toolTimeoutMs = 10_000) {
  const connection = await supervisor.connected(20_000, NEVER);
  if (connection === undefined) throw new Error('not connected');
  const job: ToolCallJob = {
    callId: CALL,
    runId: RUN,
    tenant: 'acme',
    tool: 'odd.act',
    server: 'odd',
    originalName: 'act',
    definitionHash: '',
    arguments: { id: mode, mode },
    keyArgument: null,
    key: 'k1',
    authorizationId: 'aut_1',
    toolTimeoutMs,
  };
  return await callTool(connection, job, NEVER);
}

describe('a server', () => {
  it('is listed, and called with who asks and why', async () => {
    const { supervisor, sights } = supervise();
    expect(await call(supervisor, 'ok')).toMatchObject({ kind: 'answered', result: { content: [{ type: 'text' }] } });
    expect(names(sights[0])).toEqual(['act']);
    const [effect = ''] = readFileSync(join(folder, 'effects.jsonl'), 'utf8').split('\n');
    expect(JSON.parse(effect)).toMatchObject({
      meta: {
        'io.lineclear/idempotency-key': 'k1',
        'io.lineclear/run-id': RUN,
        'io.lineclear/call-id': CALL,
        'io.lineclear/authorization-id': 'aut_1',
        'io.lineclear/tenant': 'acme',
      },
    });
  });

  it('that ends at the question for its revision is started again without it', async () => {
    const { supervisor } = supervise({ START: 'dies-at-probe' });
    expect(
      (await supervisor.connected(20_000, NEVER))?.era ??
        (await eventually(async () => (await supervisor.connected(1_000, NEVER))?.era ?? false)),
    ).toBe('legacy');
  });

  it('that does not start is away with the reason, without its secrets', async () => {
    const { sights } = supervise({ START: 'exit' });
    await eventually(() => sights.length > 0);
    expect(sights[0]).toEqual({ obstacle: 'server `odd` ended with code 3; it said: no licence for [secret]' });
  });

  it('that prints garbage is away, and the reason shows it', async () => {
    const { sights } = supervise({ START: 'garbage' });
    await eventually(() => sights.length > 0);
    expect(names(sights[0])).toMatch(
      /^server `odd` (?:did not answer as an MCP server .*it printed|prints what is no MCP message, such as) `Welcome to the odd server!`/,
    );
  });

  it('that says nothing is away when its time is over', async () => {
    const { sights } = supervise({ START: 'mute' }, 400);
    await eventually(() => sights.length > 0);
    expect(names(sights[0])).toMatch(/did not answer as an MCP server within 400 ms/);
  });

  it('that prints a banner first is served', async () => {
    const { supervisor } = supervise({ START: 'banner' });
    expect(await call(supervisor, 'ok')).toMatchObject({ kind: 'answered' });
  });

  it('that crashes loses its open call alone and is back for the next, without being reported away', async () => {
    const { supervisor, sights } = supervise();
    const open = call(supervisor, 'silent');
    expect(await call(supervisor, 'crash-after')).toEqual({ kind: 'silent', reason: 'connection-lost' });
    expect(await open).toEqual({ kind: 'silent', reason: 'connection-lost' });
    expect(await call(supervisor, 'ok')).toMatchObject({ kind: 'answered' });
    expect(sights.every((sight) => 'tools' in sight)).toBe(true);
  });

  it('that ignores every request to end is gone after a stop', async () => {
    const { supervisor } = supervise({ START: 'stubborn' });
    await call(supervisor, 'ok');
    const { pid } = JSON.parse(readFileSync(join(folder, 'effects.jsonl'), 'utf8')) as { pid: number };
    await supervisor.stop();
    expect(() => process.kill(pid, 0)).toThrow('ESRCH');
  });

  it.each(['mute', 'normal'])('that is starting (%s) is gone after a stop too', async (START) => {
    const { supervisor, sights } = supervise({ START });
    await supervisor.stop();
    expect(await supervisor.connected(1_000, NEVER)).toBeUndefined();
    expect(sights).toEqual([]);
  });

  it('tells a changed list at once', async () => {
    const file = join(folder, 'tools.json');
    const write = (description: string) =>
      writeFileSync(file, JSON.stringify([{ name: 'act', description, inputSchema: { type: 'object' } }]));
    write('one');
    utimesSync(file, 1, 1);
    const { sights } = supervise({ TOOLS: file });
    await eventually(() => sights.length === 1);
    write('two');
    await eventually(() => expect(sights.at(-1)).toMatchObject({ tools: [{ description: 'two' }] }));
  });
});

describe('the answer to a call', () => {
  it.each([
    ['refuse', { kind: 'answered', result: { isError: true } }],
    ['silent', { kind: 'silent', reason: 'timeout' }],
    [
      'lossy',
      { kind: 'unusable', reason: 'lossy-number', result: { text: expect.stringContaining('9007199254740993') } },
    ],
    ['huge', { kind: 'unusable', reason: 'result-too-large' }],
    ['error:-32602', { kind: 'refused', reason: 'protocol-error', result: { text: 'it says no' } }],
    ['error:-32603', { kind: 'silent', reason: 'protocol-error' }],
    ['error:1001', { kind: 'silent', reason: 'protocol-error' }],
    ['split', { kind: 'answered', result: { content: [{ text: 'split ü' }] } }],
    ['surrogate', { kind: 'answered' }],
  ])('%s is classified', async (mode, expected) => {
    const { supervisor } = supervise();
    expect(await call(supervisor, mode, mode === 'silent' ? 300 : 10_000)).toMatchObject(expected);
  });

  it.each(['log', 'truncated', 'batch', 'utf8', 'long'])(
    'B30: %s on its output harms no call before or after',
    async (kind) => {
      const { supervisor } = supervise();
      expect(await call(supervisor, 'ok')).toMatchObject({ kind: 'answered' });
      expect(await call(supervisor, `noise:${kind}`)).toMatchObject({ kind: 'answered' });
      expect(await call(supervisor, 'ok')).toMatchObject({ kind: 'answered' });
    },
  );
});

describe('B29: a list in pages', () => {
  const lists = (pages: unknown) => supervise({ PAGES: JSON.stringify(pages) }).sights;

  it('is read to its end; an empty cursor is a cursor', async () => {
    const sights = lists([{ next: '' }, { cursor: '', next: 'b' }, { cursor: 'b' }]);
    await eventually(() => sights.length > 0);
    expect(names(sights[0])).toEqual(['tool0', 'tool1', 'tool2']);
  });

  it.each([
    ['the same cursor again', [{ next: 'a' }, { cursor: 'a', next: 'a' }], /comes back to a page/],
    ['a circle', [{ next: 'a' }, { cursor: 'a', next: 'b' }, { cursor: 'b', next: 'a' }], /comes back to a page/],
    ['no end', [{ endless: true }], /more than 64 pages/],
    ['a page that fails', [{ next: 'a' }, { cursor: 'a', fails: true }], /page lost/],
    ['10,000 tools', [{ many: 10_000 }], /more than 1000 tools/],
  ])('with %s is no list', async (_, pages, reason) => {
    const sights = lists(pages);
    await eventually(() => sights.length > 0);
    expect(names(sights[0])).toMatch(reason);
  });
});
