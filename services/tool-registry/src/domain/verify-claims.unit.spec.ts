import {
  AUTHORIZATION_AUDIENCE,
  AUTHORIZATION_ISSUER,
  authorizationIdOf,
  callDigest,
  type EventData,
} from '@lineclear/contracts';
import { describe, expect, it } from 'vitest';
import { CALL, RUN } from '../testing/mothers.js';
import { businessKeyOf, type Claimed, verifyClaims } from './verify-claims.js';

const ARGUMENTS = { supplier: 'NORDWIND', number: 'INV-1', amount_cents: 100 };
const DIGEST = callDigest({
  tenant: 'acme',
  runId: RUN,
  turn: 1,
  index: 0,
  tool: 'erp.post',
  definitionHash: 'h',
  arguments: ARGUMENTS,
});
const CLAIMS = {
  iss: AUTHORIZATION_ISSUER,
  aud: AUTHORIZATION_AUDIENCE,
  jti: authorizationIdOf(CALL, 1, 'first'),
  sub: CALL,
  tenant: 'acme',
  round: 1,
  stage: 'first',
  digest: DIGEST,
  definitionHash: 'h',
  policyVersion: 2,
  iat: 1_000,
  exp: 1_060,
};
const DATA: EventData<'tool-call.authorized'> = {
  callId: CALL,
  turn: 1,
  index: 0,
  round: 1,
  stage: 'first',
  decisionId: 'd',
  jws: 'x',
  claims: { jti: CLAIMS.jti, tenant: 'acme', digest: DIGEST, exp: 1_060, policyVersion: 2 },
  tool: 'erp.post',
  arguments: ARGUMENTS,
  definitionHash: 'h',
  rules: [],
  edited: false,
};
const claimed = (data: Partial<typeof DATA> = {}, change: Partial<Claimed> = {}): Claimed => ({
  runId: RUN,
  tenants: ['acme', 'acme'],
  data: { ...DATA, ...data },
  businessKey: ['supplier', 'number'],
  ...change,
});

describe('claims', () => {
  it('that fit the event give the permit', () => {
    expect(verifyClaims(CLAIMS, claimed())).toMatchObject({
      valid: true,
      permit: { callId: CALL, digest: DIGEST, expiresAtMs: 1_060_000, isGranted: false, policyVersion: 2 },
    });
    expect(verifyClaims({ ...CLAIMS, approvalId: 'apr_1' }, claimed())).toMatchObject({ permit: { isGranted: true } });
  });

  it.each<[string, unknown, Claimed]>([
    ['changed arguments', CLAIMS, claimed({ arguments: { ...ARGUMENTS, amount_cents: 900_000 } })],
    ['an added argument', CLAIMS, claimed({ arguments: { ...ARGUMENTS, x: 1 } })],
    ['another tool', CLAIMS, claimed({ tool: 'erp.vendor_change_bank' })],
    ['another definition', CLAIMS, claimed({ definitionHash: 'h2' })],
    ['another run', CLAIMS, claimed({}, { runId: `run_${'1'.repeat(24)}` })],
    ['another call of the run', CLAIMS, claimed({ callId: `${RUN}-1-1`, index: 1 })],
    ['another round', CLAIMS, claimed({ round: 2 })],
    ['another stage', CLAIMS, claimed({ stage: 'approved' })],
    ['another tenant of the event', CLAIMS, claimed({}, { tenants: ['evil'] })],
    ['another tenant of the run', CLAIMS, claimed({}, { tenants: ['acme', 'evil'] })],
    ['another issuer', { ...CLAIMS, iss: 'evil' }, claimed()],
    ['another audience', { ...CLAIMS, aud: ['lineclear/tool-registry'] }, claimed()],
    ['another id', { ...CLAIMS, jti: 'aut_x' }, claimed()],
    ['an expiry as text', { ...CLAIMS, exp: '1060' }, claimed()],
    ['no expiry', { ...CLAIMS, exp: undefined }, claimed()],
    ['a fraction as expiry', { ...CLAIMS, exp: 1_060.5 }, claimed()],
    ['no object', 'text', claimed()],
  ])('B23: with %s are refused', (_, payload, event) => {
    expect(verifyClaims(payload, event)).toMatchObject({ valid: false, why: expect.any(String) });
  });
});

describe('business key', () => {
  it('is the named arguments in their order, whatever the rest', () => {
    const key = businessKeyOf(ARGUMENTS, ['supplier', 'number']);
    expect(businessKeyOf({ ...ARGUMENTS, amount_cents: 1 }, ['supplier', 'number'])).toBe(key);
    expect(businessKeyOf({ ...ARGUMENTS, number: 'INV-2' }, ['supplier', 'number'])).not.toBe(key);
  });

  it('is none when the tool names none or an argument is missing', () => {
    expect(businessKeyOf(ARGUMENTS, undefined)).toBeNull();
    expect(businessKeyOf({ supplier: 'x' }, ['supplier', 'number'])).toBeNull();
  });
});
