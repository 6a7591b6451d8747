import type { ToolResult } from '@lineclear/contracts';
import {
  type Completion,
  deduplicated,
  type Effect,
  intended,
  isOpen,
  notDispatched,
  type Permit,
  SERVER_WAIT_MS,
  settledStatus,
} from './effect.js';
import { type Gate, refusalOf } from './gate.js';

/** Who holds a business key now. Freed by a failed or not-dispatched end. */
export interface BusinessClaim {
  readonly callId: string;
  readonly payloadHash: string;
  readonly state: 'open' | 'unknown' | 'succeeded';
  readonly result: ToolResult | null;
}

export interface AuthorizationFacts extends Gate {
  readonly existing: Effect | undefined;
  readonly claim: BusinessClaim | undefined;
  /** what is wrong with the arguments by the pinned schema, in words for the model */
  readonly argumentProblems: readonly string[];
}

/**
 * `same`: known already, nothing changes. `mismatch`: the key is bound to another payload, to be audited; answered when nobody answered this
 * round. `stored`: a later round of a call that has its end, answered by it. `start`: intent and job. `close`: ended here.
 */
export type AuthorizationStep =
  | { readonly kind: 'same' }
  | { readonly kind: 'mismatch'; readonly isNewRound: boolean }
  | { readonly kind: 'stored'; readonly existing: Effect }
  | { readonly kind: 'start'; readonly effect: Effect }
  | { readonly kind: 'close'; readonly effect: Effect; readonly completion: Completion };

/**
 * What a verified authorization leads to. INVARIANT: an intent comes only from no entry or a not-dispatched one, and only in a later round, so
 * that one permit starts at most one call.
 */
export function decideAuthorization(permit: Permit, facts: AuthorizationFacts): AuthorizationStep {
  const { existing, claim, tool, nowMs, argumentProblems } = facts;
  if (existing !== undefined) {
    const isBound = existing.state !== 'not-dispatched';
    const isNewRound = permit.round > existing.round;
    if (existing.digest !== permit.digest && (isBound || !isNewRound)) return { kind: 'mismatch', isNewRound };
    if (!isNewRound || isOpen(existing)) return { kind: 'same' };
    if (isBound) return { kind: 'stored', existing };
  }
  const refusal = refusalOf(permit, facts);
  if (refusal !== undefined || tool === undefined)
    return refuse(permit, refusal ?? 'unknown-tool', nowMs, { isRetryable: refusal === 'tool-unavailable' });
  if (argumentProblems.length > 0)
    return refuse(permit, 'invalid-arguments', nowMs, { text: argumentProblems.join('\n') });
  if (claim !== undefined && claim.callId !== permit.callId) return againstClaim(permit, claim, nowMs);
  const { write: writes, key, timeoutMs } = tool.traits;
  const repeatability = { writes, isKeyHonoured: key === 'honoured', timeoutMs: SERVER_WAIT_MS + timeoutMs };
  return { kind: 'start', effect: intended(permit, repeatability, nowMs) };
}

function againstClaim(permit: Permit, claim: BusinessClaim, nowMs: number): AuthorizationStep {
  if (claim.payloadHash !== permit.payloadHash)
    return refuse(permit, 'business-key-used', nowMs, {
      text: 'another call with other arguments has this business key; its object exists or may exist already, so this call was not made',
    });
  if (claim.state === 'succeeded' && claim.result !== null)
    return {
      kind: 'close',
      effect: deduplicated(permit, nowMs),
      completion: { status: 'succeeded', result: claim.result, isRetryable: false },
    };
  return claim.state === 'unknown'
    ? refuse(permit, 'business-key-unknown', nowMs, {
        text: 'the same call was made before and nobody knows yet whether it acted; it cannot be made again until that is resolved',
      })
    : refuse(permit, 'business-key-open', nowMs, {
        text: 'the same call is being made by another run; try again later',
        isRetryable: true,
      });
}

function refuse(
  permit: Permit,
  reason: string,
  nowMs: number,
  { text, isRetryable = false }: { readonly text?: string; readonly isRetryable?: boolean } = {},
): AuthorizationStep {
  return {
    kind: 'close',
    effect: notDispatched(permit, reason, nowMs),
    completion: { status: 'not-dispatched', reason, isRetryable, ...(text === undefined ? {} : { result: { text } }) },
  };
}

/** The end that a later round of a settled call is answered with. */
export function storedCompletion(existing: Effect, result: ToolResult | undefined): Completion {
  return {
    status: settledStatus(existing) ?? 'unknown',
    isRetryable: false,
    ...(existing.reason === null ? {} : { reason: existing.reason }),
    ...(result === undefined ? {} : { result }),
  };
}
