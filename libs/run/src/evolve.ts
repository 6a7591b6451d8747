import type { Fact } from './fact.js';
import type { RunState } from './state.js';

/** The state after one fact. `state` is undefined before run.started. O(1) amortised, never changes `state` in place. */
export function evolve(_state: RunState | undefined, _fact: Fact): RunState | undefined {
  throw new Error('being written');
}
