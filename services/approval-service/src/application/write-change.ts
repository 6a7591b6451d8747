import type { EventData } from '@lineclear/contracts';
import type { NewEvent, WriteSet } from '@lineclear/messaging';
import { APPROVAL, approvalRow, versionOf } from '../adapters/postgres/approval-store.js';
import type { Approval, Closing } from '../domain/approval.js';

export interface Change {
  readonly approval: Approval;
  readonly isNew?: boolean;
}

/** The row, guarded by its version, and the event that tells it. A request that is withdrawn as it comes is told as withdrawn only. */
export function writeChange({ approval, isNew = false }: Change, writes: WriteSet): void {
  if (isNew) writes.insert(APPROVAL, approvalRow(approval));
  else writes.put(APPROVAL, approvalRow(approval), versionOf(approval) - 1);
  writes.emit(eventOf(approval));
}

function eventOf(approval: Approval): NewEvent {
  const { approvalId, callId, turn, index, round, stage, closing, status, runId, tenant } = approval;
  const ref = { approvalId, callId, turn, index, round, stage };
  const base = { key: runId, tenant, label: approval.label };
  if (closing === null || status === 'pending')
    return {
      ...base,
      name: 'approval.requested',
      data: { ...ref, digest: approval.digest, expiresAt: approval.expiresAt.toISOString() },
    };
  if (status === 'granted')
    return { ...base, name: 'approval.granted', data: { ...ref, ...grantOf(approval, closing) } };
  const data = { ...ref, reason: closing.reason, ...(closing.by !== null && { by: closing.by }) };
  return { ...base, name: `approval.${status}`, data };
}

function grantOf(
  approval: Approval,
  closing: Closing,
): Pick<EventData<'approval.granted'>, 'by' | 'digest' | 'arguments' | 'validUntil' | 'reason'> {
  return {
    by: closing.by ?? '',
    digest: closing.digest ?? approval.digest,
    validUntil: (closing.validUntil ?? closing.at).toISOString(),
    ...(closing.arguments !== null && { arguments: { ...closing.arguments } }),
    ...(closing.reason !== '' && { reason: closing.reason }),
  };
}
