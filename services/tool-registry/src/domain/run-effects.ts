import type { Effect } from './effect.js';
import { isOpen } from './effect.js';

/**
 * What the registry keeps in mind of one run: the calls of its latest turn, and older ones whose end is not known. So it stays small however long the
 * run; what is older is in the ledger.
 */
export interface RunEffects {
  /** null: its start was not seen yet */
  readonly tenant: string | null;
  /** highest n of run.stop-started, 0: none */
  readonly stop: number;
  /** null: not answered yet */
  readonly toolsetHash: string | null;
  /** latest turn with a call */
  readonly turn: number;
  readonly calls: ReadonlyMap<string, Effect>;
}

export const NO_EFFECTS: RunEffects = { tenant: null, stop: 0, toolsetHash: null, turn: 0, calls: new Map() };

const isLive = (effect: Effect): boolean => isOpen(effect) || effect.state === 'unknown';

export function withEffect(run: RunEffects, effect: Effect): RunEffects {
  const turn = Math.max(run.turn, effect.turn);
  const calls = new Map(run.calls);
  calls.set(effect.callId, effect);
  if (turn > run.turn) for (const [id, other] of calls) if (other.turn < turn && !isLive(other)) calls.delete(id);
  return { ...run, turn, calls };
}

/** Whether a call that is not in mind may have an entry in the ledger. */
export function mayBeOlder(run: RunEffects, call: { readonly callId: string; readonly turn: number }): boolean {
  return call.turn < run.turn && !run.calls.has(call.callId);
}
