import type { ToolResult } from '@lineclear/contracts';
import { type Completion, type Effect, isOpen, MAX_ATTEMPTS, quietAt } from './effect.js';

/**
 * What became of one attempt. `refused`: the tool says that it did not act. `unusable`: it says that it acted, in a result that cannot be trusted.
 * `silent`: sent, and no answer. `lost`: its process died, and nobody knows. `not-sent`: certain.
 */
export type AttemptEnd =
  | { readonly kind: 'succeeded'; readonly result: ToolResult }
  | { readonly kind: 'refused'; readonly reason: string; readonly result: ToolResult }
  | { readonly kind: 'unusable'; readonly reason: string; readonly result: ToolResult }
  | { readonly kind: 'silent'; readonly reason: string }
  | { readonly kind: 'lost' }
  | { readonly kind: 'not-sent'; readonly reason: string; readonly isRetryable: boolean };

export type SettleStep =
  | { readonly kind: 'stale' }
  | { readonly kind: 'repeat'; readonly effect: Effect }
  | { readonly kind: 'wait'; readonly effect: Effect; readonly untilMs: number }
  | { readonly kind: 'close'; readonly effect: Effect; readonly completion: Completion };

interface Moment {
  readonly nowMs: number;
  readonly isStopped: boolean;
}

/**
 * The end of an attempt. INVARIANT: of a repeated attempt only success is certain; anything else is `unknown`, and only once no earlier attempt can
 * act any more. The registry is the one that repeats: nothing else between the run and the tool does.
 */
export function settleAttempt(effect: Effect, attempt: number, end: AttemptEnd, moment: Moment): SettleStep {
  if (!isOpen(effect) || effect.isWaiting || attempt !== effect.attempt) return { kind: 'stale' };
  if (end.kind === 'succeeded')
    return close(effect, moment, { status: 'succeeded', result: end.result, isRetryable: false });
  const isQuiet = end.kind === 'silent' || end.kind === 'lost';
  if (isQuiet && effect.isRepeatable && effect.attempt < MAX_ATTEMPTS && !moment.isStopped)
    return { kind: 'repeat', effect: repeated(effect, end.kind === 'lost', moment.nowMs) };
  if (!effect.writes) return close(effect, moment, readEnd(end));
  if (effect.attempt > 1 || isQuiet || end.kind === 'unusable') return doubtful(effect, end, moment);
  return close(effect, moment, firstEnd(end));
}

/** The moment came until which an unheard attempt could act. */
export function settleWaiting(effect: Effect, nowMs: number): SettleStep {
  if (!isOpen(effect) || !effect.isWaiting) return { kind: 'stale' };
  const untilMs = effect.unheardUntilMs ?? nowMs;
  if (nowMs < untilMs) return { kind: 'wait', effect, untilMs };
  return close({ ...effect, isWaiting: false }, { nowMs }, unknown(effect.reason ?? 'no-answer'));
}

function repeated(effect: Effect, isLost: boolean, nowMs: number): Effect {
  return {
    ...effect,
    attempt: effect.attempt + 1,
    unheardUntilMs: isLost ? effect.quietAtMs : null,
    quietAtMs: Math.max(effect.quietAtMs ?? 0, quietAt(nowMs, effect.timeoutMs)),
  };
}

function doubtful(effect: Effect, end: AttemptEnd, { nowMs }: Moment): SettleStep {
  const reason = reasonOf(end);
  // a lost attempt may be told at once, while its process, taken for dead, still acts
  const untilMs = Math.max(effect.unheardUntilMs ?? 0, end.kind === 'lost' ? (effect.quietAtMs ?? 0) : 0);
  if (nowMs < untilMs)
    return { kind: 'wait', effect: { ...effect, isWaiting: true, unheardUntilMs: untilMs, reason }, untilMs };
  return close(effect, { nowMs }, unknown(reason, end.kind === 'unusable' ? end.result : undefined));
}

function unknown(reason: string, result?: ToolResult): Completion {
  return { status: 'unknown', reason, isRetryable: false, ...(result === undefined ? {} : { result }) };
}

function firstEnd(end: AttemptEnd): Completion {
  if (end.kind === 'refused') return { status: 'failed', reason: end.reason, result: end.result, isRetryable: false };
  const isRetryable = end.kind === 'not-sent' && end.isRetryable;
  return { status: 'not-dispatched', reason: reasonOf(end), isRetryable };
}

/** A read has no effect to be unsure of. */
function readEnd(end: AttemptEnd): Completion {
  if (end.kind === 'not-sent' || end.kind === 'refused') return firstEnd(end);
  if (end.kind === 'unusable') return { status: 'failed', reason: end.reason, result: end.result, isRetryable: false };
  return { status: 'failed', reason: reasonOf(end), isRetryable: true };
}

function reasonOf(end: AttemptEnd): string {
  return end.kind === 'lost' ? 'owner-lost' : end.kind === 'succeeded' ? '' : end.reason;
}

function close(effect: Effect, { nowMs }: { readonly nowMs: number }, completion: Completion): SettleStep {
  const state = completion.status;
  return {
    kind: 'close',
    effect: { ...effect, state, reason: completion.reason ?? null, endedAtMs: nowMs },
    completion,
  };
}
