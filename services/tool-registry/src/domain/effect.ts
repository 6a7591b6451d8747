import type { CompletionStatus, Stage, ToolResult } from '@lineclear/contracts';

/**
 * Where the ledger stands with one call. `intent`: committed together with its job, which starts at once when a slot is free; `dispatched`: it
 * had waited for a slot. `happened` and `not-happened` are an operator's word on what was `unknown`. CAUTION: persisted.
 */
export const EFFECT_STATES = [
  'intent',
  'dispatched',
  'succeeded',
  'failed',
  'unknown',
  'not-dispatched',
  'happened',
  'not-happened',
] as const;
export type EffectState = (typeof EFFECT_STATES)[number];

/** Attempts of one call at most: the first, and one repetition where repeating does no harm. */
export const MAX_ATTEMPTS = 2;
/** An executor that has not sent by then reports so instead of sending. */
export const DISPATCH_BY_MS = 5_000;
/** How long an attempt waits for a server that is starting or coming back; within dispatch-by. */
export const SERVER_WAIT_MS = 4_000;
/** What the executor's clock may be behind the database time of the commit that started it. */
const QUIET_MARGIN_MS = 1_000;

/** The permit for exactly one call, its signature already verified. */
export interface Permit {
  readonly tenant: string;
  readonly callId: string;
  readonly turn: number;
  readonly index: number;
  readonly round: number;
  readonly stage: Stage;
  readonly tool: string;
  readonly definitionHash: string;
  /** of the call: no other run, tool, definition or arguments have it */
  readonly digest: string;
  /** of tool and arguments alone, to compare calls of different runs under one business key; else empty */
  readonly payloadHash: string;
  readonly businessKey: string | null;
  readonly jti: string;
  readonly policyVersion: number;
  readonly expiresAtMs: number;
  /** rests on a person's grant, whose end no clock skew extends */
  readonly isGranted: boolean;
}

/** Entry of the effect ledger: one per call, ever. A later round may take over an entry that is not-dispatched. */
export interface Effect extends Permit {
  readonly state: EffectState;
  /** the latest attempt, 0: none */
  readonly attempt: number;
  /** changes something outside, so that not knowing whether it acted matters */
  readonly writes: boolean;
  /** repeating does no harm: a read, or the tool honours the key */
  readonly isRepeatable: boolean;
  readonly timeoutMs: number;
  /** from then on no attempt can act any more; null: none was made */
  readonly quietAtMs: number | null;
  /** an earlier attempt, never heard of again, could act until then */
  readonly unheardUntilMs: number | null;
  /** the last attempt ended without success and `unheardUntilMs` is waited for */
  readonly isWaiting: boolean;
  readonly reason: string | null;
  readonly isDeduplicated: boolean;
  readonly startedAtMs: number | null;
  readonly endedAtMs: number | null;
}

/** What the run is told about a call. */
export interface Completion {
  readonly status: CompletionStatus;
  readonly reason?: string;
  readonly result?: ToolResult;
  readonly isRetryable: boolean;
}

export const isOpen = ({ state }: Effect): boolean => state === 'intent' || state === 'dispatched';

/** An entry whose permit may not act: the round is answered, the key is bound to nothing. */
export function notDispatched(permit: Permit, reason: string, nowMs: number): Effect {
  return {
    ...permit,
    state: 'not-dispatched',
    attempt: 0,
    writes: false,
    isRepeatable: false,
    timeoutMs: 0,
    quietAtMs: null,
    unheardUntilMs: null,
    isWaiting: false,
    reason,
    isDeduplicated: false,
    startedAtMs: null,
    endedAtMs: nowMs,
  };
}

export interface Repeatability {
  readonly writes: boolean;
  readonly isKeyHonoured: boolean;
  readonly timeoutMs: number;
}

export function intended(permit: Permit, { writes, isKeyHonoured, timeoutMs }: Repeatability, nowMs: number): Effect {
  return {
    ...notDispatched(permit, '', nowMs),
    state: 'intent',
    attempt: 1,
    writes,
    isRepeatable: isKeyHonoured || !writes,
    timeoutMs,
    quietAtMs: quietAt(nowMs, timeoutMs),
    reason: null,
    startedAtMs: nowMs,
    endedAtMs: null,
  };
}

/** The entry of a call that another call of the same business key has done already. */
export function deduplicated(permit: Permit, nowMs: number): Effect {
  return { ...notDispatched(permit, '', nowMs), state: 'succeeded', reason: null, isDeduplicated: true };
}

/** After it waited for a slot: the time in which its attempt can act begins now. */
export function dispatched(effect: Effect, nowMs: number): Effect {
  return { ...effect, state: 'dispatched', startedAtMs: nowMs, quietAtMs: quietAt(nowMs, effect.timeoutMs) };
}

export function quietAt(nowMs: number, timeoutMs: number): number {
  return nowMs + DISPATCH_BY_MS + timeoutMs + QUIET_MARGIN_MS;
}

/** How run.fenced lists a call that has an end; undefined while it is open. */
export function settledStatus({ state }: Effect): CompletionStatus | undefined {
  switch (state) {
    case 'intent':
    case 'dispatched':
      return undefined;
    case 'happened':
      return 'succeeded';
    case 'not-happened':
      return 'failed';
    default:
      return state;
  }
}
