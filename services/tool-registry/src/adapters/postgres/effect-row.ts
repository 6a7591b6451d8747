import { idempotencyKeyOf, type Stage, type ToolResult } from '@lineclear/contracts';
import type { Effect, EffectState } from '../../domain/effect.js';

/** A row of `effect` as pg reads it, without the result. */
export interface EffectRow {
  readonly call_id: string;
  readonly run_id: string;
  readonly tenant: string;
  readonly turn: number;
  readonly index: number;
  readonly round: number;
  readonly stage: Stage;
  readonly tool: string;
  readonly definition_hash: string;
  readonly digest: string;
  readonly payload_hash: string;
  readonly business_key: string | null;
  readonly jti: string;
  readonly policy_version: number;
  readonly expires_at: Date;
  readonly is_granted: boolean;
  readonly state: EffectState;
  readonly attempt: number;
  readonly writes: boolean;
  readonly is_repeatable: boolean;
  readonly timeout_ms: number;
  readonly quiet_at: Date | null;
  readonly unheard_until: Date | null;
  readonly is_waiting: boolean;
  readonly reason: string | null;
  readonly is_deduplicated: boolean;
  readonly started_at: Date | null;
  readonly ended_at: Date | null;
}

export const EFFECT_COLUMNS = `call_id, run_id, tenant, turn, index, round, stage, tool, definition_hash, digest, payload_hash, business_key, jti,
  policy_version, expires_at, is_granted, state, attempt, writes, is_repeatable, timeout_ms, quiet_at, unheard_until, is_waiting, reason,
  is_deduplicated, started_at, ended_at`;

export function effectOf(row: EffectRow): Effect {
  return {
    tenant: row.tenant,
    callId: row.call_id,
    turn: row.turn,
    index: row.index,
    round: row.round,
    stage: row.stage,
    tool: row.tool,
    definitionHash: row.definition_hash,
    digest: row.digest,
    payloadHash: row.payload_hash,
    businessKey: row.business_key,
    jti: row.jti,
    policyVersion: row.policy_version,
    expiresAtMs: row.expires_at.getTime(),
    isGranted: row.is_granted,
    state: row.state,
    attempt: row.attempt,
    writes: row.writes,
    isRepeatable: row.is_repeatable,
    timeoutMs: row.timeout_ms,
    quietAtMs: row.quiet_at?.getTime() ?? null,
    unheardUntilMs: row.unheard_until?.getTime() ?? null,
    isWaiting: row.is_waiting,
    reason: row.reason,
    isDeduplicated: row.is_deduplicated,
    startedAtMs: row.started_at?.getTime() ?? null,
    endedAtMs: row.ended_at?.getTime() ?? null,
  };
}

/** The whole row, as the lane writes it. */
export function effectTableRow(effect: Effect, runId: string, result: ToolResult | undefined) {
  return {
    key: idempotencyKeyOf(effect.callId),
    call_id: effect.callId,
    run_id: runId,
    tenant: effect.tenant,
    turn: effect.turn,
    index: effect.index,
    round: effect.round,
    stage: effect.stage,
    tool: effect.tool,
    definition_hash: effect.definitionHash,
    digest: effect.digest,
    payload_hash: effect.payloadHash,
    business_key: effect.businessKey,
    jti: effect.jti,
    policy_version: effect.policyVersion,
    expires_at: new Date(effect.expiresAtMs),
    is_granted: effect.isGranted,
    state: effect.state,
    attempt: effect.attempt,
    writes: effect.writes,
    is_repeatable: effect.isRepeatable,
    timeout_ms: effect.timeoutMs,
    quiet_at: dateOf(effect.quietAtMs),
    unheard_until: dateOf(effect.unheardUntilMs),
    is_waiting: effect.isWaiting,
    reason: effect.reason,
    is_deduplicated: effect.isDeduplicated,
    result: result === undefined ? null : JSON.stringify(result),
    started_at: dateOf(effect.startedAtMs),
    ended_at: dateOf(effect.endedAtMs),
  };
}

const dateOf = (ms: number | null): Date | null => (ms === null ? null : new Date(ms));
