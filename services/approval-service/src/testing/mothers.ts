import { callDigest, type EventData, type Principal } from '@lineclear/contracts';

export const FRIEDA: Principal = { tenant: 'acme', subject: 'frieda', roles: ['finance'], scopes: [] };
export const EXPIRES_AT = new Date('2026-11-30T11:00:00.000Z');
export const ARGUMENTS = { number: 'INV-1', amount_cents: 900_000 };

/** What a digest covers of the first call of a run, beside its arguments. */
export const callOf = (runId: string) => ({
  tenant: 'acme',
  runId,
  turn: 1,
  index: 0,
  tool: 'erp.invoice_post',
  definitionHash: 'h',
});

/** The first call of a run, asked for by `inbox`, over what the rule `big` allows: finance decides, under four eyes, until `EXPIRES_AT`. */
export function referral(
  runId: string,
  change: Partial<EventData<'tool-call.referred'>> = {},
): EventData<'tool-call.referred'> {
  const { turn, index, tool, definitionHash } = callOf(runId);
  return {
    callId: `${runId}-1-0`,
    turn,
    index,
    round: 1,
    stage: 'first',
    decisionId: 'dec_1',
    tool,
    arguments: ARGUMENTS,
    schema: {
      type: 'object',
      properties: { number: { type: 'string' }, amount_cents: { type: 'integer', minimum: 1 } },
      additionalProperties: false,
    },
    definitionHash,
    digest: callDigest({ ...callOf(runId), arguments: ARGUMENTS }),
    rules: ['big'],
    why: 'over 5,000.00',
    label: { confidentiality: 'internal', integrity: 'untrusted' },
    requester: 'inbox',
    approvers: ['finance'],
    fourEyes: true,
    expiresAt: EXPIRES_AT.toISOString(),
    validForMs: 900_000,
    policyVersion: 1,
    ...change,
  };
}
