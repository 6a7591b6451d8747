import { Inject, Injectable } from '@nestjs/common';
import { DATA_SOURCE, type PageStart } from '@lineclear/host';
import { DataSource } from 'typeorm';
import type { Approval, ApprovalStatus } from '../../domain/approval.js';
import { approvalOf, type ApprovalRow, SELECT_APPROVAL } from './approval-store.js';

export interface ApprovalFilter {
  readonly tenant: string;
  readonly status: ApprovalStatus | undefined;
  readonly runId: string | undefined;
  readonly limit: number;
  readonly after: PageStart | undefined;
}

/** Approvals as people read them. INVARIANT: every query names the tenant. */
@Injectable()
export class Approvals {
  constructor(@Inject(DATA_SOURCE) private readonly dataSource: DataSource) {}

  /** Oldest first: what waits longest comes first. */
  async list({ tenant, status, runId, limit, after }: ApprovalFilter): Promise<Approval[]> {
    const rows: ApprovalRow[] = await this.dataSource.query(
      `${SELECT_APPROVAL} WHERE tenant = $1 AND ($2::text IS NULL OR status = $2) AND ($3::text IS NULL OR run_id = $3)
         AND ($4::timestamptz IS NULL OR (requested_at, approval_id) > ($4, $5::text))
       ORDER BY requested_at, approval_id LIMIT $6`,
      [tenant, status ?? null, runId ?? null, after?.at ?? null, after?.id ?? null, limit],
    );
    return rows.map(approvalOf);
  }

  /** undefined: not there, or another tenant's */
  async find(tenant: string, approvalId: string): Promise<Approval | undefined> {
    const rows: ApprovalRow[] = await this.dataSource.query(
      `${SELECT_APPROVAL} WHERE tenant = $1 AND approval_id = $2`,
      [tenant, approvalId],
    );
    return rows[0] && approvalOf(rows[0]);
  }
}
