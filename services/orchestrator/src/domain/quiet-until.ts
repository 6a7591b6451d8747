import { type CallState, isTerminal, type RunState } from '@lineclear/run';

/** Limits beyond which silence about a run means that its owner is lost; each is far above what a healthy platform needs. */
const ANSWER_MS = 30_000;
const MODEL_MS = 330_000;
const DISPATCH_MS = 90_000;

/**
 * Until when it is in order that nothing happens to a run, epoch ms. Infinity: a person decides. undefined: the run has ended.
 * The stuck-run detector names a live run that is silent for longer.
 */
export function quietUntilMs(state: RunState): number | undefined {
  if (isTerminal(state.stage)) return undefined;
  if (state.stage === 'reasoning') return state.nowMs + MODEL_MS;
  const open = (state.turn?.calls ?? []).filter((call) => call.phase !== 'closed');
  if (state.stage !== 'turn' || open.length === 0) return state.nowMs + ANSWER_MS;
  return Math.min(...open.map((call) => callQuietUntilMs(call, state)));
}

function callQuietUntilMs(call: CallState, state: RunState): number {
  switch (call.phase) {
    case 'referred':
      return Infinity;
    case 'authorized': {
      const tool = state.toolset?.tools.find(({ name }) => name === call.tool);
      return state.nowMs + DISPATCH_MS + (tool?.traits.timeoutMs ?? 0);
    }
    case 'unknown':
      return (call.unknownUntilMs ?? state.nowMs) + ANSWER_MS;
    default:
      return state.nowMs + ANSWER_MS;
  }
}
