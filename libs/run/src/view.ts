import type { BudgetState, Message, ToolView } from '@lineclear/contracts';
import type { CallState, RunState, RunStatus } from './state.js';

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
export function modelRequestOf(_state: RunState): ModelRequest | undefined {
  throw new Error('being written');
}

export interface RunView {
  readonly state: RunStatus;
  readonly reason: string | undefined;
  readonly turn: number;
  readonly calls: readonly Pick<CallState, 'callId' | 'tool' | 'arguments' | 'verdict' | 'rules'>[];
  readonly budget: BudgetState;
}

/** The run as interface.md shows it; `atMs` is the time at which the clocks are read. */
export function runViewOf(_state: RunState, _atMs: number): RunView {
  throw new Error('being written');
}
