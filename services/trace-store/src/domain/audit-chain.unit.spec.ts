import { canonicalJson, contentHash } from '@lineclear/contracts';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { append, type AuditRecord, ChainCheck, type ChainHead, EMPTY_CHAIN } from './audit-chain.js';

function chain(length: number): AuditRecord[] {
  const records: AuditRecord[] = [];
  for (let n = 1; n <= length; n += 1)
    records.push(
      append('acme', records.at(-1) ?? EMPTY_CHAIN, { subject: `run_${n}`, fact: { n, state: 'answered' } }),
    );
  return records;
}

const verify = (records: readonly AuditRecord[], head: ChainHead = records.at(-1) ?? EMPTY_CHAIN) => {
  const check = new ChainCheck('acme');
  check.take(records);
  return check.verdict(head);
};

describe('an audit chain', () => {
  it('is whole when every record follows the one before', () => {
    expect(verify(chain(5))).toEqual({ whole: true, records: 5, firstBroken: null });
    expect(verify([])).toEqual({ whole: true, records: 0, firstBroken: null });
  });

  it('can be checked from its records by anyone who has RFC 8785 and SHA-256', () => {
    const [record] = chain(1);
    const { tenant, seq, prevHash, subject, factText, hash } = record as AuditRecord;
    expect(contentHash({ tenant, seq, prevHash, subject, fact: JSON.parse(factText) })).toBe(hash);
  });

  it('writes facts as RFC 8785 does', () => {
    const text = fc.string({ unit: 'binary' });
    const value = fc.oneof(text, fc.integer(), fc.boolean(), fc.array(text));
    fc.assert(
      fc.property(fc.dictionary(text, value), (fact) => {
        expect(append('acme', EMPTY_CHAIN, { subject: 's', fact }).factText).toBe(canonicalJson(fact));
      }),
    );
  });

  it('keeps its hash for ever', () => {
    expect(chain(1)[0]?.hash).toBe('f94f1f7d53e6a2b53cfe8193ec01167287352a0d57a5c3e5aa60b4387828e56b');
  });

  const whole = chain(6);
  const head = whole.at(-1) ?? EMPTY_CHAIN;
  it.each<[string, AuditRecord[], number]>([
    ['a changed fact', whole.map((r) => (r.seq === 3 ? { ...r, factText: '{"n":4}' } : r)), 3],
    ['a changed subject', whole.map((r) => (r.seq === 2 ? { ...r, subject: 'run_x' } : r)), 2],
    ['a removed record', whole.filter((r) => r.seq !== 4), 4],
    ['two records swapped', [...whole.slice(0, 1), ...whole.slice(2, 3), ...whole.slice(1, 2), ...whole.slice(3)], 2],
    ['records cut off at the end', whole.slice(0, 4), 5],
    ['everything cut off', [], 1],
    ['a record of another tenant', whole.map((r) => (r.seq === 5 ? { ...r, tenant: 'other' } : r)), 5],
    [
      'a record put in',
      [...whole.slice(0, 2), append('acme', whole[1] ?? EMPTY_CHAIN, { subject: 'x', fact: {} }), ...whole.slice(2)],
      4,
    ],
  ])('names the first broken record after %s', (_, records, firstBroken) => {
    expect(verify(records, head)).toMatchObject({ whole: false, firstBroken });
  });
});
