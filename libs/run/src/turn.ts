import type { ToolMessage, ToolView } from '@lineclear/contracts';
import { appendMessages } from '@lineclear/context';
import { joinLabels } from '@lineclear/labels';
import type { CallResult, SlotMark } from './fact.js';
import { settleCall } from './ledger.js';
import { banUnknown, forget, forgetOthers, type Tried } from './repeats.js';
import type { CallState, RunState, Totals, TurnState } from './state.js';

/** The call of the present turn, or undefined. */
export function callOf(state: RunState, callId: string): CallState | undefined {
  return state.turn?.calls.find((call) => call.callId === callId);
}

/** Calls of the present turn without a result. */
export function openCalls(state: RunState): CallState[] {
  return state.turn?.calls.filter((call) => call.phase !== 'closed') ?? [];
}

export function toolNamed(state: RunState, name: string): ToolView | undefined {
  return state.toolset?.tools.find((tool) => tool.name === name);
}

/** The state with one more call, or with this one changed. Calls stand at their index. */
export function withCall(state: RunState, call: CallState): RunState {
  if (state.turn === undefined) return state;
  const calls = [...state.turn.calls];
  calls[call.index] = call;
  return { ...state, turn: { ...state.turn, calls } };
}

/** The call with a slot filled: the mark joins the others, and a kept input with that id is kept no longer. */
export function marked(call: CallState, mark: SlotMark | undefined): CallState {
  if (mark === undefined) return call;
  return {
    ...call,
    marks: [...call.marks.filter(({ slot }) => slot !== mark.slot), mark],
    early: call.early.filter(({ id }) => id !== mark.id),
  };
}

/** INVARIANT: a call gets its result once; decide never closes a closed call. */
export function closeCall(state: RunState, call: CallState, result: CallResult): RunState {
  const closed: CallState = {
    ...call,
    phase: 'closed',
    outcome: result.outcome,
    text: result.text,
    structured: result.structured,
    early: [],
    unknownUntilMs: undefined,
  };
  return flushWhenComplete({
    ...withCall(state, closed),
    ledger: settleCall(state.ledger, result.executed),
    label: result.label === undefined ? state.label : joinLabels(state.label, result.label),
    tried: triedAfter(state, closed, result),
    totals: totalsAfter(state.totals, result),
  });
}

function triedAfter(state: RunState, call: CallState, result: CallResult): Tried {
  const tool = toolNamed(state, call.tool);
  const write = tool?.traits.write ?? true;
  const tried = { key: call.repeatKey, callId: call.callId, turn: call.turn, write };
  if (result.effect) return forgetOthers(state.tried, tried);
  if (result.outcome === 'unknown' && (write || tool?.traits.repeatable !== true))
    return banUnknown(state.tried, tried);
  return result.retryable ? forget(state.tried, call.repeatKey) : state.tried;
}

function totalsAfter(totals: Totals, result: CallResult): Totals {
  if (!result.effect && result.outcome !== 'unknown') return totals;
  return {
    ...totals,
    effects: totals.effects + (result.effect ? 1 : 0),
    unknown: totals.unknown + (result.outcome === 'unknown' ? 1 : 0),
  };
}

export function isComplete({ size, calls }: TurnState): boolean {
  return calls.length === size && calls.every((call) => call.phase === 'closed');
}

/** INVARIANT: results enter the window together, one per call, in the order of the calls (I6). */
export function flushWhenComplete(state: RunState): RunState {
  if (state.turn === undefined || !isComplete(state.turn)) return state;
  return { ...state, window: appendMessages(state.window, state.turn.calls.map(messageOf)) };
}

function messageOf({ turn, callId, tool, outcome, text, structured }: CallState): ToolMessage {
  return {
    role: 'tool',
    turn,
    callId,
    tool,
    outcome: outcome ?? 'unknown',
    text: text.toWellFormed(),
    ...(structured === undefined ? {} : { structured }),
  };
}
