import { createHash, hash } from 'node:crypto';
import { contentHash } from './canonical.js';

/** CAUTION: fixed at installation and stored in every database and topic; changing it needs a reshard. */
export const SHARD_COUNT = 24;

/** Separates the parts of a derived id; refused inside the parts, so that ("a","b") and ("ab") never meet. */
const SEPARATOR = '\u001f';

/** 32 hex characters derived from the parts; equal parts give the equal id, so that a re-run of a handler repeats its ids. */
export function derivedId(...parts: readonly (string | number)[]): string {
  return hash('sha256', parts.map(String).join(SEPARATOR), 'hex').slice(0, 32);
}

/** First 4 bytes of SHA-256 of the key, big-endian, modulo the shard count (messaging.md section 5). CAUTION: persisted. */
export function shardOf(key: string, shardCount: number = SHARD_COUNT): number {
  return createHash('sha256').update(key).digest().readUInt32BE(0) % shardCount;
}

/** Id of the run that a task becomes: the same tenant, source and task id always name the same run. */
export function runIdOf(tenant: string, source: string, taskId: string): string {
  return `run_${derivedId('run', tenant, source, taskId).slice(0, 24)}`;
}

/** Id of one tool call within a turn. `turn` counts from 1, `index` from 0. */
export function callIdOf(runId: string, turn: number, index: number): string {
  return `${runId}-${turn}-${index}`;
}

/** The run of a call id, or undefined when the text is no call id. */
export function runIdOfCall(callId: string): string | undefined {
  return /^(run_[0-9a-f]{24})-\d+-\d+$/.exec(callId)?.[1];
}

/** Stage of a verdict: `approved` only for the second decision after a referral and what follows from it. */
export type Stage = 'first' | 'approved';

export const decisionIdOf = (callId: string, round: number, stage: Stage): string =>
  `dec_${derivedId('decision', callId, round, stage).slice(0, 24)}`;

export const authorizationIdOf = (callId: string, round: number, stage: Stage): string =>
  `aut_${derivedId('authorization', callId, round, stage).slice(0, 24)}`;

/** One approval request per call and round. */
export const approvalIdOf = (callId: string, round: number): string =>
  `apr_${derivedId('approval', callId, round).slice(0, 24)}`;

/** Key that a tool sees: derived from (runId, turn, index), never from an attempt or a round. CAUTION: persisted by other systems. */
export const idempotencyKeyOf = (callId: string): string => `lck_${derivedId('effect', callId)}`;

/** What an approval and an authorization are bound to: exactly this call, no other arguments, tool version, run or tenant. */
export interface CallIdentity {
  readonly tenant: string;
  readonly runId: string;
  readonly turn: number;
  readonly index: number;
  readonly tool: string;
  readonly definitionHash: string;
  readonly arguments: Readonly<Record<string, unknown>>;
}

/** SHA-256 over RFC 8785 canonical JSON of the call's identity, as 64 hex characters. */
export function callDigest(call: CallIdentity): string {
  const { tenant, runId, turn, index, tool, definitionHash, arguments: args } = call;
  return contentHash({ tenant, runId, turn, index, tool, definitionHash, arguments: args });
}
