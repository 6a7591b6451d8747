import { Controller, Get, Query } from '@nestjs/common';
import type { Principal } from '@lineclear/contracts';
import { CurrentPrincipal, Describe, pageLimit, pageOf, pageSchema, Roles } from '@lineclear/host';
import { z } from 'zod';
import type { ChainVerdict } from '../../domain/audit-chain.js';
import { AuditStore } from '../postgres/audit-store.js';

const query = z.strictObject({
  after: z.coerce.number().int().nonnegative().default(0),
  limit: pageLimit(200, 1_000),
  subject: z.string().min(1).max(200).optional(),
});

const record = z.object({
  seq: z.int(),
  prevHash: z.string(),
  hash: z.string(),
  subject: z.string(),
  fact: z.record(z.string(), z.unknown()),
});

const page = pageSchema(record);
const verdict = z.object({ whole: z.boolean(), records: z.int(), firstBroken: z.int().nullable() });

/** The tenant's hash-chained record of who asked, who allowed and what was done. */
@Controller('v1/audit')
@Roles('operator', 'auditor')
export class AuditController {
  constructor(private readonly audit: AuditStore) {}

  @Get()
  @Describe({ summary: "Records of the tenant's audit, oldest first.", answer: page })
  async list(
    @Query({ schema: query }) asked: z.infer<typeof query>,
    @CurrentPrincipal() { tenant }: Principal,
  ): Promise<z.infer<typeof page>> {
    const records = await this.audit.list({ tenant, ...asked });
    const items = records.map(({ seq, prevHash, hash, subject, factText }) => ({
      seq,
      prevHash,
      hash,
      subject,
      fact: JSON.parse(factText) as Record<string, unknown>,
    }));
    return pageOf(items, asked.limit, ({ seq }) => String(seq));
  }

  @Get('verify')
  @Describe({ summary: 'Re-computes the whole chain and names the first broken record.', answer: verdict })
  verify(@CurrentPrincipal() { tenant }: Principal): Promise<ChainVerdict> {
    return this.audit.verify(tenant);
  }
}
