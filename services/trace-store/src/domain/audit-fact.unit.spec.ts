import { describe, expect, it } from 'vitest';
import { auditFactOf } from './audit-fact.js';

const CALL = { callId: 'run_1-1-0', turn: 1, index: 0, round: 1, stage: 'first' } as const;

describe('the audit fact of an event', () => {
  it('says who decided what by which rules, without the arguments', () => {
    const fact = auditFactOf('tool-call.authorized', {
      ...CALL,
      decisionId: 'dec_1',
      jws: 'x.y.z',
      claims: { jti: 'aut_1', tenant: 'acme', digest: 'd', exp: 1, policyVersion: 3 },
      tool: 'erp.post',
      arguments: { iban: 'DE00' },
      definitionHash: 'h',
      rules: ['post'],
      edited: false,
    });
    expect(fact).toEqual({
      verdict: 'authorized',
      callId: CALL.callId,
      decisionId: 'dec_1',
      tool: 'erp.post',
      rules: ['post'],
      policyVersion: 3,
      jti: 'aut_1',
      digest: 'd',
      edited: false,
    });
  });

  it('names the person of an approval', () => {
    const granted = auditFactOf('approval.granted', {
      ...CALL,
      approvalId: 'apr_1',
      by: 'bea',
      digest: 'd',
      validUntil: '2026-01-01T00:00:00Z',
    });
    expect(granted).toEqual({ approval: 'granted', approvalId: 'apr_1', callId: CALL.callId, by: 'bea', digest: 'd' });
  });

  it('is none for what only moves a run on', () => {
    expect(auditFactOf('memory.recalled', { facts: [] })).toBeUndefined();
    expect(auditFactOf('constructor' as 'run.fenced', { n: 1, open: [], settled: [] })).toBeUndefined();
    expect(auditFactOf('audit.recorded', { seq: 1, prevHash: '', hash: '', subject: '', fact: {} })).toBeUndefined();
  });
});
