import type { BudgetState, Message, ToolView } from '@lineclear/contracts';
import { budgetStateOf } from './budget-state.js';
import { type CallState, type RunState, type RunStatus, statusOf } from './state.js';

/** What the model is asked for in the open step; built when the job runs, from the state of that moment. */
export interface ModelRequest {
  readonly model: string;
  readonly system: string;
  readonly messages: readonly Message[];
  /** usable tools only; the model sees the alias */
  readonly tools: readonly ToolView[];
  readonly maxOutputTokens: number;
}

/** The request of the open model call, or undefined when none is open. The messages are append-only between `context.cleared` events. */
export function modelRequestOf({ modelCall, definition, window, toolset }: RunState): ModelRequest | undefined {
  if (modelCall === undefined) return undefined;
  return {
    model: definition.model,
    system: definition.prompt,
    messages: window.messages.toArray(),
    tools: toolset?.tools.filter(({ status }) => status === 'available') ?? [],
    maxOutputTokens: definition.maxOutputTokens,
  };
}

export interface CallView extends Pick<CallState, 'callId' | 'tool' | 'arguments' | 'verdict' | 'rules'> {
  /** the phase while it is open, then how it ended */
  readonly status: string;
}

export interface RunView {
  readonly state: RunStatus;
  readonly reason: string | undefined;
  readonly turn: number;
  /** of the present turn, or the last one */
  readonly calls: readonly CallView[];
  readonly budget: BudgetState;
}

/** The run as interface.md shows it; `atMs` is the time at which the clocks are read. */
export function runViewOf(state: RunState, atMs: number): RunView {
  return {
    state: statusOf(state),
    reason: state.finished?.reason ?? state.stop?.reason,
    turn: state.totals.turns,
    calls: (state.turn?.calls ?? []).map(({ callId, tool, arguments: args, verdict, rules, phase, outcome }) => ({
      callId,
      tool,
      arguments: args,
      verdict,
      rules,
      status: outcome ?? phase,
    })),
    budget: budgetStateOf(state, state.finished === undefined ? atMs : state.nowMs),
  };
}
