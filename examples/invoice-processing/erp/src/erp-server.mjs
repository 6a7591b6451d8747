import { readFileSync } from 'node:fs';
import { McpServer } from '@modelcontextprotocol/server';
import { serveStdio, StdioServerTransport } from '@modelcontextprotocol/server/stdio';
import { Faults } from './faults.mjs';
import { Ledger } from './ledger.mjs';
import { RawArguments } from './raw-arguments.mjs';
import { erpTools } from './tools.mjs';

/** The key that the platform fills; a tool that honours it acts once per key, also after a restart. */
const KEY = 'io.lineclear/idempotency-key';

const folder = process.env.ERP_LEDGER;
if (!folder) {
  process.stderr.write('ERP_LEDGER is not set; expected the folder of the ledgers, one <tenant>.jsonl each\n');
  process.exit(78);
}
const read = (name) => JSON.parse(readFileSync(new URL(`../data/${name}.json`, import.meta.url), 'utf8'));
const tools = erpTools({ purchaseOrders: read('purchase-orders'), vendors: read('vendors') });
const faults = new Faults(process.env.ERP_FAULTS, folder);
const ledgers = new Map();
const raw = process.stdin.pipe(new RawArguments());

function ledgerOf(tenant) {
  let ledger = ledgers.get(tenant);
  if (ledger === undefined) {
    ledger = new Ledger(folder, tenant);
    ledgers.set(tenant, ledger);
  }
  return ledger;
}

const answer = (value) => ({ content: [{ type: 'text', text: JSON.stringify(value) }], structuredContent: value });
const refusal = (message) => ({ content: [{ type: 'text', text: message }], isError: true });

async function perform(name, tool, args, context) {
  const argumentsRaw = raw.take(context.mcpReq.id);
  if (tool.readOnly) {
    const value = tool.answer(args);
    return 'fault' in value ? refusal(value.fault) : answer(value);
  }
  const meta = context.mcpReq._meta ?? {};
  const tenant = meta['io.lineclear/tenant'] ?? 'default';
  const { signal } = context.mcpReq;
  const refused = tool.refuse(args);
  if (refused !== undefined) return refusal(refused);
  const key = meta[KEY] ?? null;
  if (!tool.honoursKey || key === null) return answer(await act(name, tool, args, { tenant, key, argumentsRaw, meta, signal }));
  const earlier = ledgerOf(tenant).byKey(key);
  if (earlier === undefined) return answer(await act(name, tool, args, { tenant, key, argumentsRaw, meta, signal }));
  if (earlier.tool !== name || canonical(JSON.parse(earlier.argumentsRaw)) !== canonical(JSON.parse(argumentsRaw)))
    return refusal(`the idempotency key \`${key}\` was used before with other arguments`);
  return answer(receipt(earlier));
}

async function act(name, tool, args, { tenant, key, argumentsRaw, meta, signal }) {
  await faults.beforeActing(tenant, tool.subject(args), signal);
  signal.throwIfAborted();
  const line = ledgerOf(tenant).append({
    key,
    runId: meta['io.lineclear/run-id'] ?? null,
    callId: meta['io.lineclear/call-id'] ?? null,
    authorizationId: meta['io.lineclear/authorization-id'] ?? null,
    tool: name,
    argumentsRaw,
    at: new Date().toISOString(),
  });
  await faults.afterActing(tenant, tool.subject(args), signal);
  return receipt(line);
}

const receipt = ({ document, tool }) => ({ done: true, tool, document });

function canonical(value) {
  if (Array.isArray(value)) return `[${value.map(canonical).join()}]`;
  if (value === null || typeof value !== 'object') return JSON.stringify(value);
  const keys = Object.keys(value).sort();
  return `{${keys.map((key) => `${JSON.stringify(key)}:${canonical(value[key])}`).join()}}`;
}

function createServer() {
  const server = new McpServer({ name: 'demo-erp', version: '1.0.0' });
  for (const [name, tool] of Object.entries(tools)) {
    server.registerTool(
      name,
      { description: tool.description, inputSchema: tool.input, annotations: { readOnlyHint: tool.readOnly } },
      (args, context) => perform(name, tool, args, context),
    );
  }
  return server;
}

serveStdio(createServer, { transport: new StdioServerTransport(raw) });
process.stdin.on('end', () => process.exit(0));
