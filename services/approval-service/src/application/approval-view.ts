import { labelSchema } from '@lineclear/contracts';
import { z } from 'zod';
import { type Approval, APPROVAL_STATUSES } from '../domain/approval.js';

/** An approval request as people read it. CAUTION: public, see interface.md. */
export const approvalViewSchema = z.object({
  approvalId: z.string(),
  runId: z.string(),
  callId: z.string(),
  round: z.int(),
  tool: z.string(),
  arguments: z.record(z.string(), z.unknown()),
  digest: z.string(),
  why: z.string(),
  rules: z.array(z.string()),
  label: labelSchema,
  requester: z.string(),
  approvers: z.array(z.string()),
  fourEyes: z.boolean(),
  requestedAt: z.iso.datetime(),
  expiresAt: z.iso.datetime(),
  status: z.enum(APPROVAL_STATUSES),
  decidedBy: z.string().nullable(),
  decidedAt: z.iso.datetime().nullable(),
  reason: z.string().nullable(),
  /** what runs instead of `arguments`, when the approver edited them */
  editedArguments: z.record(z.string(), z.unknown()).nullable(),
  validUntil: z.iso.datetime().nullable(),
});

export type ApprovalView = z.infer<typeof approvalViewSchema>;

export function approvalView(approval: Approval): ApprovalView {
  const { approvalId, runId, callId, round, tool, digest, why, label, requester, fourEyes, status, closing } = approval;
  return {
    approvalId,
    runId,
    callId,
    round,
    tool,
    arguments: { ...approval.arguments },
    digest,
    why,
    rules: [...approval.rules],
    label,
    requester,
    approvers: [...approval.approvers],
    fourEyes,
    requestedAt: approval.requestedAt.toISOString(),
    expiresAt: approval.expiresAt.toISOString(),
    status,
    decidedBy: closing?.by ?? null,
    decidedAt: closing?.at.toISOString() ?? null,
    reason: closing?.reason ?? null,
    editedArguments: closing?.arguments == null ? null : { ...closing.arguments },
    validUntil: closing?.validUntil?.toISOString() ?? null,
  };
}
