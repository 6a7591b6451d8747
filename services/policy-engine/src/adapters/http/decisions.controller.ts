import { Controller, Get, Query } from '@nestjs/common';
import type { Principal } from '@lineclear/contracts';
import { InvalidMessageError } from '@lineclear/errors';
import { CurrentPrincipal, Describe } from '@lineclear/host';
import { z } from 'zod';
import { Decisions } from '../postgres/decisions.js';

const query = z.strictObject({
  runId: z.string().min(1).max(200).optional(),
  limit: z.coerce.number().int().min(1).max(500).default(200),
  /** `next` of the page before */
  after: z.string().optional(),
});

const decisionView = z.object({
  decisionId: z.string(),
  runId: z.string(),
  callId: z.string(),
  round: z.int(),
  stage: z.string(),
  tool: z.string(),
  verdict: z.enum(['authorized', 'referred', 'denied']),
  rules: z.array(z.string()),
  reason: z.string(),
  errors: z.array(z.object({ rule: z.string().optional(), message: z.string() })),
  terminal: z.boolean(),
  policyVersion: z.int(),
  digest: z.string(),
  inputsDigest: z.string(),
  approvalId: z.string().nullable(),
  jti: z.string().nullable(),
  at: z.iso.datetime(),
});

const page = z.object({ items: z.array(decisionView), next: z.string().optional() });

/** Why each call of the caller's tenant ran or did not. */
@Controller('v1/decisions')
export class DecisionsController {
  constructor(private readonly decisions: Decisions) {}

  @Get()
  @Describe({ summary: 'Decisions of the tenant or of one run, oldest first.', answer: page })
  async list(@Query({ schema: query }) asked: z.infer<typeof query>, @CurrentPrincipal() { tenant }: Principal) {
    const { runId, limit, after } = asked;
    const items = await this.decisions.list({
      tenant,
      runId,
      limit,
      after: after === undefined ? undefined : cursorOf(after),
    });
    const last = items.length === limit ? items.at(-1) : undefined;
    return { items, ...(last !== undefined && { next: `${last.at}~${last.decisionId}` }) };
  }
}

function cursorOf(cursor: string): { at: Date; decisionId: string } {
  const [at = '', decisionId = ''] = cursor.split('~');
  if (decisionId !== '' && z.iso.datetime().safeParse(at).success) return { at: new Date(at), decisionId };
  throw new InvalidMessageError('invalid-request', `the cursor \`${cursor}\` is none that this list gave`, {
    details: { where: 'query `after`', seen: cursor, expected: '`next` of an earlier page' },
  });
}
