import { callDigest, type Principal } from '@lineclear/contracts';
import { describe, expect, it } from 'vitest';
import { ARGUMENTS, callOf, EXPIRES_AT, FRIEDA, referral } from '../testing/mothers.js';
import { type Approval, requested } from './approval.js';
import { decideApproval, expire, withdraw } from './decide-approval.js';

const AT = new Date('2026-11-30T10:00:00.000Z');
const INBOX: Principal = { ...FRIEDA, subject: 'inbox' };

const approval = (change: Partial<Approval> = {}): Approval => ({
  ...requested(referral('run_1'), { approvalId: 'apr_1', tenant: 'acme', runId: 'run_1' }, AT),
  ...change,
});

const closedOf = (outcome: ReturnType<typeof decideApproval>): Approval => {
  if (outcome.kind !== 'closed') throw new Error(`expected a closed request, got ${JSON.stringify(outcome)}`);
  return outcome.approval;
};
const codeOf = (outcome: ReturnType<typeof decideApproval>) =>
  'failure' in outcome ? outcome.failure?.code : undefined;

describe('a decision on an approval', () => {
  it('grants exactly the call that was asked about, for the time the rule gives', () => {
    const granted = closedOf(decideApproval(approval(), { action: 'approve' }, FRIEDA, AT));
    expect(granted).toMatchObject({
      status: 'granted',
      closing: { by: 'frieda', digest: approval().digest, arguments: null },
    });
    expect(granted.closing?.validUntil?.getTime()).toBe(AT.getTime() + 900_000);
  });

  it('grants edited arguments under their own digest (S18)', () => {
    const edited = { number: 'INV-1', amount_cents: 800_000 };
    const granted = closedOf(decideApproval(approval(), { action: 'edit', arguments: edited }, FRIEDA, AT));
    expect(granted.closing).toMatchObject({
      arguments: edited,
      digest: callDigest({ ...callOf('run_1'), arguments: edited }),
    });
    expect(granted.closing?.digest).not.toBe(approval().digest);
  });

  it.each([
    [{ number: 'INV-1', amount_cents: -1 }, 'amount_cents'],
    [{ number: 'INV-1', amount_cents: '1' }, 'amount_cents'],
    [{ number: 'INV-1', amount_cents: 1, approved: true }, 'approved'],
  ])('keeps the request open when the edited arguments are not valid: %j (S18)', (edited, part) => {
    const outcome = decideApproval(approval(), { action: 'edit', arguments: edited }, FRIEDA, AT);
    expect(outcome).toMatchObject({
      kind: 'refused',
      failure: { code: 'invariant-violated', message: expect.stringContaining(part) },
    });
  });

  it('denies with a reason, and not without one', () => {
    expect(closedOf(decideApproval(approval(), { action: 'deny', reason: 'no' }, FRIEDA, AT))).toMatchObject({
      status: 'denied',
      closing: { reason: 'no' },
    });
    expect(codeOf(decideApproval(approval(), { action: 'deny' }, FRIEDA, AT))).toBe('invalid-request');
    expect(codeOf(decideApproval(approval(), { action: 'deny', reason: ' ' }, FRIEDA, AT))).toBe('invalid-request');
  });

  it('refuses a click at or after the expiry and closes the request as expired (S17)', () => {
    for (const at of [EXPIRES_AT, new Date(EXPIRES_AT.getTime() + 1)]) {
      const outcome = decideApproval(approval(), { action: 'approve' }, FRIEDA, at);
      expect(codeOf(outcome)).toBe('already-decided');
      expect(closedOf(outcome).status).toBe('expired');
    }
    expect(
      closedOf(decideApproval(approval(), { action: 'approve' }, FRIEDA, new Date(EXPIRES_AT.getTime() - 1))).status,
    ).toBe('granted');
  });

  it('refuses the requester under four eyes, and whoever lacks the role (S24)', () => {
    expect(codeOf(decideApproval(approval(), { action: 'approve' }, INBOX, AT))).toBe('forbidden');
    expect(codeOf(decideApproval(approval(), { action: 'approve' }, { ...FRIEDA, roles: ['ap-clerk'] }, AT))).toBe(
      'forbidden',
    );
    expect(codeOf(decideApproval(approval({ approvers: [] }), { action: 'approve' }, FRIEDA, AT))).toBe('forbidden');
    expect(closedOf(decideApproval(approval({ fourEyes: false }), { action: 'approve' }, INBOX, AT)).status).toBe(
      'granted',
    );
  });

  it.each([
    { action: 'approve', by: 'boss' },
    { action: 'approve', approver: 'boss' },
    { action: 'grant' },
    {},
    { action: 'approve', arguments: {} },
    { action: 'edit' },
  ])('refuses a body that is not a decision, or names an approver: %j (S24)', (body) => {
    expect(codeOf(decideApproval(approval(), body, FRIEDA, AT))).toBe('invalid-request');
  });

  it('takes the same decision of the same person again, and no other (S23)', () => {
    const granted = closedOf(decideApproval(approval(), { action: 'approve' }, FRIEDA, AT));
    expect(decideApproval(granted, { action: 'approve' }, FRIEDA, EXPIRES_AT)).toEqual({ kind: 'same' });
    const others: [object, Principal][] = [
      [{ action: 'deny', reason: 'no' }, FRIEDA],
      [{ action: 'edit', arguments: ARGUMENTS }, FRIEDA],
      [{ action: 'approve' }, { ...FRIEDA, subject: 'greta' }],
    ];
    for (const [body, by] of others)
      expect(decideApproval(granted, body, by, AT)).toMatchObject({
        kind: 'refused',
        failure: { code: 'already-decided', details: { status: 'granted', by: 'frieda' } },
      });
  });

  it('never changes what is closed', () => {
    const closed = [
      expire(approval(), EXPIRES_AT),
      withdraw(approval(), 'stop', AT),
      closedOf(decideApproval(approval(), { action: 'deny', reason: 'n' }, FRIEDA, AT)),
    ];
    for (const each of closed) {
      expect(() => expire(each, EXPIRES_AT)).toThrow(expect.objectContaining({ code: 'already-decided' }));
      expect(codeOf(decideApproval(each, { action: 'approve' }, FRIEDA, AT))).toBe('already-decided');
    }
  });
});
