import { defineTable, type ReadHandle, type Row, type StateStore } from '@lineclear/messaging';
import type { Approval, ApprovalStatus, Closing, RunApprovals } from '../../domain/approval.js';

/** `version` counts the changes: 1 while pending, 2 when closed. */
export const APPROVAL = defineTable({
  name: 'approval',
  columns: {
    approval_id: 'text',
    version: 'int',
    tenant: 'text',
    run_id: 'text',
    call_id: 'text',
    tool: 'text',
    requester: 'text',
    status: 'text',
    expires_at: 'timestamptz',
    requested_at: 'timestamptz',
    request: 'text',
    closing: 'text',
  },
  key: ['approval_id'],
  version: 'version',
});

export const STOPPED_RUN = defineTable({
  name: 'stopped_run',
  columns: { run_id: 'text', stopped_at: 'timestamptz' },
  key: ['run_id'],
});

/** Decisions that were refused. Append-only. */
export const APPROVAL_ATTEMPT = defineTable({
  name: 'approval_attempt',
  columns: {
    attempt_id: 'text',
    approval_id: 'text',
    tenant: 'text',
    by: 'text',
    code: 'text',
    message: 'text',
    at: 'timestamptz',
  },
  key: ['attempt_id'],
});

export interface ApprovalRow {
  readonly approval_id: string;
  readonly tenant: string;
  readonly run_id: string;
  readonly status: ApprovalStatus;
  readonly expires_at: Date;
  readonly requested_at: Date;
  readonly request: string;
  readonly closing: string | null;
}

const COLUMNS = 'approval_id, tenant, run_id, status, expires_at, requested_at, request, closing';

export const SELECT_APPROVAL = `SELECT ${COLUMNS} FROM approval`;

/** Everything about one run's approvals, by run id. */
export const RUN_APPROVALS: StateStore<RunApprovals> = {
  name: 'run-approvals',
  async load(keys, read: ReadHandle) {
    const rows = await read.query<ApprovalRow>(`${SELECT_APPROVAL} WHERE run_id = ANY($1)`, [keys]);
    const stops = await read.query<{ run_id: string }>('SELECT run_id FROM stopped_run WHERE run_id = ANY($1)', [keys]);
    const stopped = new Set(stops.map(({ run_id }) => run_id));
    const byRun = Map.groupBy(rows, ({ run_id }) => run_id);
    const known = new Set([...stopped, ...byRun.keys()]);
    return new Map(
      [...known].map((runId) => {
        const approvals = (byRun.get(runId) ?? []).map(approvalOf);
        return [
          runId,
          { stopped: stopped.has(runId), byId: new Map(approvals.map((approval) => [approval.approvalId, approval])) },
        ];
      }),
    );
  },
};

type Request = Omit<Approval, 'approvalId' | 'tenant' | 'runId' | 'status' | 'expiresAt' | 'requestedAt' | 'closing'>;
type StoredClosing = Omit<Closing, 'at' | 'validUntil'> & { readonly at: string; readonly validUntil: string | null };

export function approvalOf(row: ApprovalRow): Approval {
  return {
    ...(JSON.parse(row.request) as Request),
    approvalId: row.approval_id,
    tenant: row.tenant,
    runId: row.run_id,
    status: row.status,
    expiresAt: row.expires_at,
    requestedAt: row.requested_at,
    closing: row.closing === null ? null : closingOf(JSON.parse(row.closing) as StoredClosing),
  };
}

function closingOf(stored: StoredClosing): Closing {
  const { at, validUntil } = stored;
  return { ...stored, at: new Date(at), validUntil: validUntil === null ? null : new Date(validUntil) };
}

export function approvalRow(approval: Approval): Row {
  const { approvalId, tenant, runId, status, expiresAt, requestedAt, closing, ...request } = approval;
  return {
    approval_id: approvalId,
    version: versionOf(approval),
    tenant,
    run_id: runId,
    call_id: approval.callId,
    tool: approval.tool,
    requester: approval.requester,
    status,
    expires_at: expiresAt,
    requested_at: requestedAt,
    request: JSON.stringify(request),
    closing: closing === null ? null : JSON.stringify(closing),
  };
}

export const versionOf = ({ status }: Approval): number => (status === 'pending' ? 1 : 2);
