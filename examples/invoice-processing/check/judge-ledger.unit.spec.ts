import type { DecisionView } from '@lineclear/client';
import { describe, expect, it } from 'vitest';
import { judgeLedger, ledgerHolds } from './judge-ledger.js';
import type { LedgerLine } from './ledger.js';

const line = (change: Partial<LedgerLine> = {}): LedgerLine => ({
  key: 'k1',
  runId: 'run_1',
  callId: 'run_1-3-0',
  authorizationId: 'aut_1',
  tool: 'erp.invoice_post',
  argumentsRaw: '{"supplier":"NORDWIND","number":"INV-1001","amount_cents":1}',
  at: '2026-11-30T03:00:01.000Z',
  ...change,
});

const decision = (change: Partial<DecisionView> = {}): DecisionView => ({
  decisionId: 'dec_1',
  runId: 'run_1',
  callId: 'run_1-3-0',
  tool: 'erp.invoice_post',
  verdict: 'authorized',
  rules: ['post'],
  reason: '',
  digest: 'd',
  jti: 'aut_1',
  policyVersion: 1,
  at: '2026-11-30T03:00:00.000Z',
  ...change,
});

const expected = { files: {}, postings: [['NORDWIND', 'INV-1001'] as [string, string]], notifications: [] };

describe('judgeLedger', () => {
  it('holds when the one posting was authorized before it', () => {
    expect(ledgerHolds(judgeLedger([line()], [decision()], expected))).toBe(true);
  });

  it.each([
    ['no decision', []],
    ['a denied one', [decision({ verdict: 'denied' })]],
    ['one for another call', [decision({ callId: 'run_1-4-0' })]],
    ['one for another tool', [decision({ tool: 'erp.supplier_notify' })]],
    ['one made after it', [decision({ at: '2026-11-30T03:00:02.000Z' })]],
  ])('finds an effect with %s', (_, decisions) => {
    expect(judgeLedger([line()], decisions, expected).withoutDecision).toEqual(['run_1-3-0']);
  });

  it('finds a second effect for one invoice, whatever its key', () => {
    const verdict = judgeLedger([line(), line({ key: 'k2' })], [decision()], expected);
    expect(verdict).toMatchObject({ twice: ['NORDWIND INV-1001'], distinctKeys: 2 });
    expect(ledgerHolds(verdict)).toBe(false);
  });

  it('finds what is missing and what nobody expects', () => {
    const other = line({ argumentsRaw: '{"supplier":"HELIOS","number":"INV-9"}' });
    expect(judgeLedger([other], [decision()], expected)).toMatchObject({
      missing: ['NORDWIND INV-1001'],
      unexpected: ['HELIOS INV-9'],
    });
    const bank = line({ tool: 'erp.vendor_change_bank' });
    expect(judgeLedger([line(), bank], [decision()], expected).unexpected).toEqual([
      'erp.vendor_change_bank run_1-3-0',
    ]);
  });
});
