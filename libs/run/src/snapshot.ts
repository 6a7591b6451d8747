import type { RunState } from './state.js';

/** JSON value of a state. Grows with the window: write it now and then, not each step; facts since are folded on top. */
export function toSnapshot(_state: RunState): Record<string, unknown> {
  throw new Error('being written');
}

/** The state back. Throws InvalidMessageError(`unsupported-version`) for a newer format; unknown fields are kept. */
export function fromSnapshot(_snapshot: Readonly<Record<string, unknown>>): RunState {
  throw new Error('being written');
}
