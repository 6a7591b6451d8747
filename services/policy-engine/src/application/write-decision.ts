import type { WriteSet } from '@lineclear/messaging';
import { APPROVAL_GRANT, DECISION } from '../adapters/postgres/tables.js';
import { type CallInput, isGrant } from './call-input.js';
import type { SettledCall } from './settle-call.js';

const VERDICTS = {
  'tool-call.denied': 'denied',
  'tool-call.referred': 'referred',
  'tool-call.authorized': 'authorized',
} as const;

/** Writes a decision: its row, the grant it rests on when that arrived with the input, and the event. */
export function writeDecision(writes: WriteSet, input: CallInput, settled: SettledCall, now: Date): void {
  writes.insert(DECISION, decisionRow(input, settled, now));
  if (settled.grant !== undefined && isGrant(input)) {
    const { approvalId, tenant, callId, digest, validUntilMs, isEdited, approvers, fourEyes } = settled.grant;
    writes.insertOnce(APPROVAL_GRANT, {
      approval_id: approvalId,
      tenant,
      call_id: callId,
      digest,
      valid_until: new Date(validUntilMs),
      is_edited: isEdited,
      approvers,
      four_eyes: fourEyes,
      granted_by: input.event.data.by,
    });
  }
  emit(writes, input, settled);
}

function emit(writes: WriteSet, { key, event }: CallInput, { decision, jws, call }: SettledCall): void {
  const { answer } = decision;
  const common = { key, tenant: event.tenant, correlationId: event.correlationid };
  if (answer.name === 'tool-call.denied') return writes.emit({ name: answer.name, data: answer.data, ...common });
  const { label } = call;
  if (answer.name === 'tool-call.referred')
    return writes.emit({ name: answer.name, data: answer.data, label, ...common });
  writes.emit({ name: answer.name, data: { ...answer.data, jws: jws ?? '' }, label, ...common });
}

function decisionRow({ key, event }: CallInput, { decision, call, referral }: SettledCall, now: Date) {
  const { record, answer } = decision;
  return {
    decision_id: record.decisionId,
    tenant: event.tenant,
    run_id: key,
    call_id: call.callId,
    round: call.round,
    stage: answer.data.stage,
    tool: call.tool,
    verdict: VERDICTS[answer.name],
    rules: record.rules,
    reason: record.reason,
    errors: record.errors.length === 0 ? null : JSON.stringify(record.errors),
    terminal: record.terminal,
    policy_version: record.policyVersion,
    digest: record.digest,
    inputs_digest: record.inputsDigest,
    approval_id: record.approvalId ?? null,
    jti: answer.name === 'tool-call.authorized' ? answer.claims.jti : null,
    referral: referral === undefined ? null : JSON.stringify(referral),
    decided_at: now,
  };
}
