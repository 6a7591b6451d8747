import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

const SERVER = fileURLToPath(new URL('./erp-server.mjs', import.meta.url));
const INVOICE = {
  supplier: 'NORDWIND',
  number: 'INV-1',
  po: 'PO-2001',
  amount_cents: 58310,
  currency: 'EUR',
  scan_confidence_percent: 98,
};

interface Answer {
  readonly isError?: boolean;
  readonly structuredContent?: unknown;
}

let folder: string;
const children: ChildProcess[] = [];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'erp-'));
});

afterEach(async () => {
  for (const child of children.splice(0))
    if (child.exitCode === null && child.kill('SIGKILL')) await once(child, 'exit');
  rmSync(folder, { recursive: true, force: true });
});

/** A running server, spoken to line by line; a call without an answer within `waitMs` is cancelled. */
function erp(faults: readonly object[] = []) {
  const file = join(folder, 'faults.json');
  writeFileSync(file, JSON.stringify(faults));
  const child = spawn(process.execPath, [SERVER], {
    env: { ERP_LEDGER: folder, ERP_FAULTS: file },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  children.push(child);
  const waiting = new Map<number, (answer: Answer) => void>();
  createInterface(child.stdout).on('line', (line) => {
    const message = JSON.parse(line) as { id: number; result: Answer };
    waiting.get(message.id)?.(message.result);
  });
  const send = (message: object) => child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  let id = 0;
  const call = (name: string, args: object, key = 'k1', waitMs = 5_000): Promise<Answer | 'cancelled'> => {
    id += 1;
    const requestId = id;
    const _meta = {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientCapabilities': {},
      'io.lineclear/idempotency-key': key,
      'io.lineclear/tenant': 'acme',
    };
    send({ id: requestId, method: 'tools/call', params: { name, arguments: args, _meta } });
    return new Promise((resolve) => {
      const timer = setTimeout(() => {
        send({ method: 'notifications/cancelled', params: { requestId } });
        resolve('cancelled');
      }, waitMs);
      waiting.set(requestId, (answer) => {
        clearTimeout(timer);
        resolve(answer);
      });
    });
  };
  return { call, child };
}

const ledger = () =>
  readFileSync(join(folder, 'acme.jsonl'), 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as { key: string; tool: string; argumentsRaw: string });

describe('the ERP', () => {
  it('writes a line with the raw arguments before it answers', async () => {
    const { call } = erp();
    await call('supplier_notify', { supplier: 'ORCHARD', message: 'apples, ü and 🌍' });
    expect(ledger()).toMatchObject([
      { key: 'k1', tool: 'supplier_notify', argumentsRaw: '{"supplier":"ORCHARD","message":"apples, ü and 🌍"}' },
    ]);
  });

  it('answers the same key and arguments with the first result, also after a restart', async () => {
    const first = await erp().call('invoice_post', INVOICE);
    const again = await erp().call('invoice_post', INVOICE);
    expect(first).toMatchObject({ structuredContent: { done: true } });
    expect(again).toEqual(first);
    expect(ledger()).toHaveLength(1);
  });

  it('refuses the same key with other arguments', async () => {
    const { call } = erp();
    await call('invoice_post', INVOICE);
    expect(await call('invoice_post', { ...INVOICE, amount_cents: 1 })).toMatchObject({ isError: true });
    expect(ledger()).toHaveLength(1);
  });

  it('acts again for every notification, whatever the key', async () => {
    const { call } = erp();
    const message = { supplier: 'ORCHARD', message: 'hello' };
    await call('supplier_notify', message);
    await call('supplier_notify', message);
    expect(ledger()).toHaveLength(2);
  });

  it('loses one reply after posting when told so', async () => {
    const { call } = erp([{ number: 'INV-1', fault: 'lose-reply' }]);
    expect(await call('invoice_post', INVOICE, 'k1', 1_000)).toBe('cancelled');
    expect(await call('invoice_post', INVOICE)).not.toMatchObject({ isError: true });
    expect(ledger()).toHaveLength(1);
  });

  it('does not act any more when it was cancelled while it was slow', async () => {
    const slow = (number: string, delayMs: number) => ({ number, fault: 'slow', delayMs });
    const { call } = erp([slow('INV-1', 300), slow('INV-2', 600)]);
    await call('get_po', { po: 'PO-2001' });
    expect(await call('invoice_post', INVOICE, 'k1', 50)).toBe('cancelled');
    await call('invoice_post', { ...INVOICE, number: 'INV-2' }, 'k2');
    expect(ledger()).toMatchObject([{ key: 'k2' }]);
  });

  it('ends when its input ends', async () => {
    const { call, child } = erp();
    await call('get_po', { po: 'PO-2001' });
    child.stdin?.end();
    expect(await once(child, 'exit')).toEqual([0, null]);
  });

  it.each([
    ['an amount as text', { amount_cents: '58310' }],
    ['a boolean', { amount_cents: true }],
    ['a negative amount', { amount_cents: -1 }],
    ['an unknown key', { approved: true }],
  ])('refuses %s', async (_, change) => {
    expect(await erp().call('invoice_post', { ...INVOICE, ...change })).toMatchObject({ isError: true });
  });
});
