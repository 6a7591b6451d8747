import { Controller, Get, Query } from '@nestjs/common';
import type { Principal } from '@lineclear/contracts';
import { CurrentPrincipal, cursorAt, Describe, pageLimit, pageOf, pageSchema, pageStartOf } from '@lineclear/host';
import { z } from 'zod';
import { Decisions } from '../postgres/decisions.js';

const query = z.strictObject({
  runId: z.string().min(1).max(200).optional(),
  limit: pageLimit(200, 500),
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

/** Why each call of the caller's tenant ran or did not. */
@Controller('v1/decisions')
export class DecisionsController {
  constructor(private readonly decisions: Decisions) {}

  @Get()
  @Describe({ summary: 'Decisions of the tenant or of one run, oldest first.', answer: pageSchema(decisionView) })
  async list(@Query({ schema: query }) asked: z.infer<typeof query>, @CurrentPrincipal() { tenant }: Principal) {
    const { runId, limit, after } = asked;
    const start = pageStartOf(after, { expected: '`next` of an earlier page' });
    const decisions = await this.decisions.list({ tenant, runId, limit, after: start });
    return pageOf(decisions, limit, ({ at, decisionId }) => cursorAt(at, decisionId));
  }
}
