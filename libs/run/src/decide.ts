import type { Decision } from './decision.js';
import type { RunInput } from './input.js';
import type { RunState } from './state.js';

/** What a run does on one input. Pure: time is `input.at`. Throws NotFoundError for an event or job of a run that does not exist. */
export function decide(_input: RunInput, _state: RunState | undefined): Decision {
  throw new Error('being written');
}
