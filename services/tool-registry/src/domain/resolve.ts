import { ConflictError } from '@lineclear/errors';
import { type Effect, isOpen } from './effect.js';

export type ResolvedOutcome = 'happened' | 'not-happened';

/**
 * An operator's (or reconciler's) word on a call whose outcome is unknown. The same word again changes nothing and gives undefined.
 * @throws ConflictError `attempt-open` while an attempt could still act, `already-decided` when the outcome is known
 */
export function resolveUnknown(effect: Effect, outcome: ResolvedOutcome, nowMs: number): Effect | undefined {
  const { callId, state, quietAtMs } = effect;
  if (isOpen(effect) || (state === 'unknown' && nowMs < (quietAtMs ?? 0))) {
    const until = quietAtMs === null ? undefined : new Date(quietAtMs).toISOString();
    throw new ConflictError(
      'attempt-open',
      `call \`${callId}\` cannot be resolved yet: an attempt of it could still act; try again after ${until}`,
      {
        details: { callId, until },
      },
    );
  }
  if (state === outcome) return undefined;
  if (state !== 'unknown')
    throw new ConflictError('already-decided', `the outcome of call \`${callId}\` is known: it is ${state}`, {
      details: { callId, seen: state, expected: 'unknown' },
    });
  return { ...effect, state: outcome };
}
