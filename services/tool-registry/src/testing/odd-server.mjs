// An MCP server (2025-11-25, raw lines) that misbehaves on request. Effects are lines of the file EFFECTS, written before anything is answered.
// TOOLS names a JSON file with its list, read anew each time; a change of it is told. Tool `act` does what `mode` says.
import { appendFileSync, existsSync, readFileSync, statSync } from 'node:fs';
import { createInterface } from 'node:readline';

const { EFFECTS, TOOLS, START = 'normal', HONOURS_KEY, PAGES } = process.env;
const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
const ACT = {
  name: 'act',
  description: 'Acts.',
  inputSchema: {
    type: 'object',
    properties: { id: { type: 'string' }, mode: { type: 'string' }, key: { type: 'string' } },
    required: ['id'],
    additionalProperties: false,
  },
};

if (START === 'exit') {
  process.stderr.write('no licence for token-hunter2\n');
  process.exit(3);
}
if (START === 'garbage') for (let n = 0; n < 200; n += 1) process.stdout.write('Welcome to the odd server!\n');
if (START === 'banner') process.stdout.write('Welcome!\n');
if (START === 'dies-at-probe') process.env.DIES = '1';
if (START === 'stubborn') process.on('SIGTERM', () => undefined);

const tools = () => (TOOLS !== undefined && existsSync(TOOLS) ? JSON.parse(readFileSync(TOOLS, 'utf8')) : [ACT]);
const text = (value) => ({ content: [{ type: 'text', text: value }] });
const known = () => (existsSync(EFFECTS) ? readFileSync(EFFECTS, 'utf8').trim().split('\n').map((line) => JSON.parse(line)) : []);

function act({ id }, meta) {
  const key = meta?.['io.lineclear/idempotency-key'] ?? null;
  const first = HONOURS_KEY === undefined ? undefined : known().find((line) => line.key === key);
  if (first !== undefined) return first;
  const line = { id, key, pid: process.pid, meta };
  appendFileSync(EFFECTS, `${JSON.stringify(line)}\n`);
  return line;
}

const MODES = {
  ok: (args, meta) => text(`done by ${act(args, meta).pid}`),
  'lost-reply': (args, meta) => void act(args, meta),
  'lost-reply-once': (args, meta) => {
    const isFirst = !known().some((line) => line.id === args.id);
    const { pid } = act(args, meta);
    return isFirst ? undefined : text(`done by ${pid}`);
  },
  silent: () => undefined,
  refuse: () => ({ ...text('the limit is 200'), isError: true }),
  'crash-after': (args, meta) => {
    act(args, meta);
    process.exit(9);
  },
  empty: () => ({ content: [] }),
  big: () => text('x'.repeat(100_000)),
  huge: () => text('x'.repeat(20_000_000)),
  image: () => ({ content: [{ type: 'image', data: Buffer.alloc(90_000, 1).toString('base64'), mimeType: 'image/png' }] }),
  structured: () => ({ ...text('see structured'), structuredContent: { recognitionId: 'r1' } }),
  unstructured: () => ({ ...text('see structured'), structuredContent: { other: 1 } }),
  surrogate: () => text('a\ud800b'),
};

function lossy(id) {
  process.stdout.write(`{"jsonrpc":"2.0","id":${id},"result":{"content":[],"structuredContent":{"id":9007199254740993}}}\n`);
}

function noise(kind) {
  if (kind === 'log') process.stdout.write('2026-11-30 INFO working\n');
  if (kind === 'truncated') process.stdout.write('{"jsonrpc":"2.0","method":"test","params":\n');
  if (kind === 'batch') process.stdout.write('[{"jsonrpc":"2.0","id":1,"result":{}}]\n');
  if (kind === 'utf8') process.stdout.write(Buffer.from([0x7b, 0xff, 0xfe, 0x0a]));
  if (kind === 'long') process.stdout.write(`${'y'.repeat(20_000_000)}\n`);
}

function call(id, { name, arguments: args = {}, _meta: meta }) {
  const [mode = 'ok', kind] = (args.mode ?? 'ok').split(':');
  if (mode === 'noise') noise(kind);
  if (mode === 'lossy') return lossy(id);
  if (mode === 'error') return send({ id, error: { code: Number(kind), message: 'it says no' } });
  if (mode === 'split') {
    const line = `${JSON.stringify({ jsonrpc: '2.0', id, result: text('split ü') })}\n`;
    const bytes = Buffer.from(line);
    for (let at = 0; at < bytes.length; at += 7) process.stdout.write(bytes.subarray(at, at + 7));
    return undefined;
  }
  const result = (MODES[mode] ?? MODES.ok)({ ...args, name }, meta);
  if (result !== undefined) send({ id, result });
  return undefined;
}

function list(id, { cursor }) {
  if (PAGES === undefined) return send({ id, result: { tools: tools() } });
  const pages = JSON.parse(PAGES);
  const at = cursor === undefined ? 0 : pages.findIndex((page) => page.cursor === cursor);
  const { fails, next } = pages[at] ?? {};
  if (fails) return send({ id, error: { code: -32603, message: 'page lost' } });
  const made = PAGES.includes('endless') ? { nextCursor: `c${Math.random()}` } : next === undefined ? {} : { nextCursor: next };
  const page = pages[at]?.many === undefined ? [{ ...ACT, name: `tool${Math.max(at, 0)}` }] : Array.from({ length: pages[at].many }, (_, n) => ({ ...ACT, name: `t${n}` }));
  return send({ id, result: { tools: page, ...made } });
}

createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params = {} } = JSON.parse(line);
  if (method === 'server/discover' && process.env.DIES) process.exit(1);
  if (START === 'mute') return;
  if (method === 'initialize')
    send({ id, result: { protocolVersion: '2025-11-25', capabilities: { tools: { listChanged: true } }, serverInfo: { name: 'odd', version: '1' } } });
  else if (method === 'tools/list') list(id, params);
  else if (method === 'tools/call') call(id, params);
  else if (id !== undefined) send({ id, error: { code: -32601, message: 'method not found' } });
});
if (START !== 'stubborn') process.stdin.on('end', () => process.exit(0));

if (TOOLS !== undefined) {
  let seen = existsSync(TOOLS) ? statSync(TOOLS).mtimeMs : 0;
  setInterval(() => {
    const now = existsSync(TOOLS) ? statSync(TOOLS).mtimeMs : 0;
    if (now !== seen) send({ method: 'notifications/tools/list_changed' });
    seen = now;
  }, 20).unref();
}
