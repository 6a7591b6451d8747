import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  approvalIdOf,
  authorizationIdOf,
  callDigest,
  callIdOf,
  decisionIdOf,
  derivedId,
  idempotencyKeyOf,
  runIdOf,
  runIdOfCall,
  shardOf,
} from './ids.js';

describe('derived ids', () => {
  it('are pinned: changing one loses the identity of everything stored', () => {
    const runId = runIdOf('acme', '/erp/inbox', 'b17/inv-007');
    const callId = callIdOf(runId, 1, 0);
    expect({
      runId,
      callId,
      decision: decisionIdOf(callId, 1, 'first'),
      approved: decisionIdOf(callId, 1, 'approved'),
      authorization: authorizationIdOf(callId, 2, 'first'),
      approval: approvalIdOf(callId, 1),
      key: idempotencyKeyOf(callId),
    }).toMatchInlineSnapshot(`
      {
        "approval": "apr_fe323da1868c46823ad8026f",
        "approved": "dec_f334f13a8c13d03960d732bf",
        "authorization": "aut_0b3d490cfcef249af54be404",
        "callId": "run_aaa6dd8c98ce503c12a03377-1-0",
        "decision": "dec_5a4afbd92dc5785ccde63c85",
        "key": "lck_3ac3fb5dd5a16396fe0fc96be47bd07d",
        "runId": "run_aaa6dd8c98ce503c12a03377",
      }
    `);
  });

  it('names the run of a call, and of nothing else', () => {
    const runId = runIdOf('acme', '/erp/inbox', '1');
    expect(runIdOfCall(callIdOf(runId, 12, 3))).toBe(runId);
    expect(runIdOfCall(`${runId}-1`)).toBeUndefined();
    expect(runIdOfCall(`x${runId}-1-0`)).toBeUndefined();
  });

  it('never lets two lists of parts meet', () => {
    expect(derivedId('a', 'b')).not.toBe(derivedId('ab'));
    expect(derivedId('a', 'b')).not.toBe(derivedId('a', '', 'b'));
  });
});

describe('shardOf', () => {
  it('is pinned for known keys', () => {
    expect(['a', 'b', 'run_0', 'acme', 'ünïcode'].map((key) => shardOf(key))).toMatchInlineSnapshot(`
      [
        2,
        6,
        3,
        13,
        23,
      ]
    `);
  });

  it('stays within the shard count and spreads keys', () => {
    const seen = new Set(Array.from({ length: 1000 }, (_, n) => shardOf(`run_${n}`)));
    expect(seen.size).toBe(24);
    expect(Math.max(...seen)).toBe(23);
  });
});

describe('callDigest', () => {
  const call = {
    tenant: 'acme',
    runId: 'run_1',
    turn: 1,
    index: 0,
    tool: 'erp.invoice_post',
    definitionHash: 'h',
    arguments: { amount_cents: 120000, number: 'INV-7' },
  };

  it('is pinned', () => {
    expect(callDigest(call)).toMatchInlineSnapshot(
      `"56e471afba6d04671b40e29ba6aacf1ee1f2bed182d392eb70a23cc52d27c45f"`,
    );
  });

  it('does not depend on the order of keys and does depend on every part', () => {
    expect(callDigest({ ...call, arguments: { number: 'INV-7', amount_cents: 120000 } })).toBe(callDigest(call));
    const changed = [
      { tenant: 'other' },
      { runId: 'run_2' },
      { turn: 2 },
      { index: 1 },
      { tool: 'erp.get_po' },
      { definitionHash: 'i' },
      { arguments: { amount_cents: 120001, number: 'INV-7' } },
      { arguments: { amount_cents: '120000', number: 'INV-7' } },
      { arguments: { amount_cents: 120000, number: 'INV-7', note: null } },
    ].map((change) => callDigest({ ...call, ...change }));
    expect(new Set([...changed, callDigest(call)]).size).toBe(changed.length + 1);
  });

  it('is equal exactly when the arguments are the same JSON value', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (left, right) => {
        const digests = [left, right].map((value) => callDigest({ ...call, arguments: { value } }));
        const plain = [left, right].map((value) => JSON.stringify(sorted(value)));
        expect(digests[0] === digests[1]).toBe(plain[0] === plain[1]);
      }),
    );
  });
});

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (value === null || typeof value !== 'object') return value;
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return { entries: entries.map(([key, inner]) => [key, sorted(inner)]) };
}
