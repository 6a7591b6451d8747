import { Inject, Injectable } from '@nestjs/common';
import { DATA_SOURCE } from '@lineclear/host';
import { DataSource, type EntityManager } from 'typeorm';
import {
  type AuditRecord,
  ChainCheck,
  type ChainHead,
  type ChainVerdict,
  EMPTY_CHAIN,
} from '../../domain/audit-chain.js';
import { auditRecordOf, type AuditRow } from './audit-table.js';

const CHECKED_AT_ONCE = 2_000;
const COLUMNS = 'tenant, seq, prev_hash, hash, subject, fact';

export interface AuditPage {
  readonly tenant: string;
  readonly after: number;
  readonly limit: number;
  readonly subject?: string | undefined;
}

/** Reads of the audit. INVARIANT: every one names the tenant. */
@Injectable()
export class AuditStore {
  constructor(@Inject(DATA_SOURCE) private readonly dataSource: DataSource) {}

  list({ tenant, after, limit, subject }: AuditPage): Promise<AuditRecord[]> {
    return records(this.dataSource.manager, 'AND ($4::text IS NULL OR subject = $4)', [
      tenant,
      after,
      limit,
      subject ?? null,
    ]);
  }

  /** Re-computes the tenant's whole chain as it stands at this moment. */
  verify(tenant: string): Promise<ChainVerdict> {
    return this.dataSource.transaction('REPEATABLE READ', async (manager) => {
      const heads: ChainHead[] = await manager.query('SELECT seq, hash FROM audit_head WHERE tenant = $1', [tenant]);
      const check = new ChainCheck(tenant);
      let after = 0;
      for (;;) {
        const piece = await records(manager, '', [tenant, after, CHECKED_AT_ONCE]);
        after = piece.at(-1)?.seq ?? after;
        if (!check.take(piece) || piece.length < CHECKED_AT_ONCE) return check.verdict(heads[0] ?? EMPTY_CHAIN);
      }
    });
  }
}

async function records(manager: EntityManager, where: string, values: unknown[]): Promise<AuditRecord[]> {
  const rows: AuditRow[] = await manager.query(
    `SELECT ${COLUMNS} FROM audit WHERE tenant = $1 AND seq > $2 ${where} ORDER BY seq LIMIT $3`,
    values,
  );
  return rows.map(auditRecordOf);
}
