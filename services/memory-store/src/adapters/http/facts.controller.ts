import { Controller, Get, Query } from '@nestjs/common';
import type { Principal } from '@lineclear/contracts';
import { ForbiddenError } from '@lineclear/errors';
import { CurrentPrincipal, cursorAt, Describe, pageLimit, pageOf, pageSchema, pageStartOf } from '@lineclear/host';
import { z } from 'zod';
import type { Fact } from '../../domain/fact.js';
import { FactStore } from '../postgres/fact-store.js';

const query = z.strictObject({
  subject: z.string().min(1).optional(),
  superseded: z.enum(['true', 'false']).default('false'),
  limit: pageLimit(50, 200),
  cursor: z.string().optional(),
});

const factView = z.object({
  id: z.string(),
  topic: z.string().nullable(),
  kind: z.string(),
  text: z.string(),
  source: z.string(),
  eventTime: z.iso.datetime(),
  stated: z.boolean(),
  label: z.object({ confidentiality: z.string(), integrity: z.string() }),
  supersededBy: z.string().nullable(),
});

const page = pageSchema(factView);

/** What the store knows about a subject of the caller's tenant. */
@Controller('v1/facts')
export class FactsController {
  constructor(private readonly facts: FactStore) {}

  @Get()
  @Describe({
    summary: 'Facts about the caller, newest first; an operator may name another subject of the tenant.',
    answer: page,
  })
  async list(
    @Query({ schema: query }) asked: z.infer<typeof query>,
    @CurrentPrincipal() principal: Principal,
  ): Promise<z.infer<typeof page>> {
    const subject = asked.subject ?? principal.subject;
    if (subject !== principal.subject && !principal.roles.includes('operator'))
      throw new ForbiddenError('facts about another subject need the role `operator`', {
        details: { where: 'query `subject`', seen: subject, expected: principal.subject },
      });
    const facts = await this.facts.list({
      tenant: principal.tenant,
      subject,
      limit: asked.limit,
      includeSuperseded: asked.superseded === 'true',
      before: pageStartOf(asked.cursor, { member: 'cursor', expected: '`next` of an earlier page' }),
    });
    return pageOf(facts.map(viewOf), asked.limit, ({ eventTime, id }) => cursorAt(eventTime, id));
  }
}

function viewOf({ tenant: _tenant, subject: _subject, eventTime, ...same }: Fact): z.infer<typeof factView> {
  return { ...same, eventTime: eventTime.toISOString() };
}
