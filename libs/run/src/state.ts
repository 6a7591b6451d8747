import type {
  AgentDefinition,
  CallOutcome,
  Label,
  Price,
  Principal,
  RecordedInput,
  Stage,
  TerminalState,
  ToolView,
  Usage,
} from '@lineclear/contracts';
import type { Window } from '@lineclear/context';
import type { CallInput, SlotMark } from './fact.js';
import type { Ledger, Reservation } from './ledger.js';
import type { Tried } from './repeats.js';

/** CAUTION: persisted in snapshots. */
export const STATE_VERSION = 1;

/**
 * Phase of a call (docs/state-machines/call.md), ordered as its inputs are. `proposed` and `granted` wait for a verdict, `referred` for a
 * person, `authorized` for the tool, `unknown` for a resolution.
 */
export type CallPhase = 'proposed' | 'referred' | 'granted' | 'authorized' | 'unknown' | 'closed';

export interface CallState {
  readonly callId: string;
  readonly turn: number;
  readonly index: number;
  /** canonical name, or what the model wrote when there is no such tool */
  readonly tool: string;
  readonly definitionHash: string;
  /** as proposed, or as an approver edited them */
  readonly arguments: Readonly<Record<string, unknown>>;
  readonly edited: boolean;
  readonly digest: string;
  /** of the call as the model wrote it (repeats.ts) */
  readonly repeatKey: string;
  readonly phase: CallPhase;
  readonly round: number;
  readonly stage: Stage;
  readonly approvalId: string | undefined;
  readonly verdict: 'authorized' | 'referred' | 'denied' | undefined;
  readonly rules: readonly string[];
  /** end of the wait for a resolution, epoch ms */
  readonly unknownUntilMs: number | undefined;
  /** inputs ahead of the phase, in order of arrival; never ignored */
  readonly early: readonly CallInput[];
  /** slots already filled, so that the same again is a no-op and another payload is seen */
  readonly marks: readonly SlotMark[];
  readonly outcome: CallOutcome | undefined;
  readonly text: string;
  readonly structured: unknown;
}

export interface TurnState {
  readonly turn: number;
  /** how many calls the reply asked for; the turn is complete when all are here and closed */
  readonly size: number;
  readonly calls: readonly CallState[];
}

/** Open model call. */
export interface ModelCallState {
  readonly step: number;
  readonly attempt: number;
  readonly jobId: string;
  readonly reservation: Reservation;
}

export interface StopState {
  readonly target: TerminalState;
  readonly reason: string;
  readonly by: string;
  /** last run.stop-started */
  readonly n: number;
  readonly startedMs: number;
  /** last run.fenced taken, 0 = none */
  readonly fencedN: number;
}

/** Sums over the whole run; the truth, also where the ledger is capped at its limit. */
export interface Totals {
  readonly turns: number;
  readonly usage: Usage;
  readonly costMicros: number;
  /** calls that were referred to a person */
  readonly approvals: number;
  /** calls that changed something outside */
  readonly effects: number;
  /** calls closed as unknown */
  readonly unknown: number;
}

export type RunStage = 'preparing' | 'reasoning' | 'turn' | 'stopping' | TerminalState;

/** State of one run. Never changed in place: `evolve` gives the next one and shares what is equal. */
export interface RunState {
  readonly runId: string;
  readonly taskId: string;
  readonly taskSource: string;
  readonly payloadHash: string;
  readonly definition: AgentDefinition;
  readonly principal: Principal;
  readonly price: Price | null;
  /** join of everything the model has seen */
  readonly label: Label;
  readonly stage: RunStage;
  readonly startedMs: number;
  /** database time of the newest fact; never goes back */
  readonly nowMs: number;
  /** facts folded so far: the expected version of an append */
  readonly version: number;
  /** own events so far */
  readonly sequence: number;
  /** inputs consumed since the last own event */
  readonly pending: readonly RecordedInput[];

  readonly toolset: { readonly id: string; readonly hash: string; readonly tools: readonly ToolView[] } | undefined;
  /** the other half of the join; true at once for an agent that recalls nothing */
  readonly recalled: boolean;
  /** event that told it, or came too late to */
  readonly recallId: string | undefined;

  /** what goes into the next request */
  readonly window: Window;
  /** estimate of what every request carries beside the window: prompt and tools */
  readonly fixedTokens: number;

  readonly ledger: Ledger;
  /** active time: `sinceMs` is undefined while the clock stands (waiting for people) */
  readonly active: { readonly spentMs: number; readonly sinceMs: number | undefined };
  readonly modelCall: ModelCallState | undefined;
  /** attempts of the present step that were lost */
  readonly lostAttempts: number;
  /** the present turn, or the last one; a reply without calls opens an empty one */
  readonly turn: TurnState | undefined;
  readonly tried: Tried;
  readonly stop: StopState | undefined;
  readonly totals: Totals;
  readonly finished: { readonly reason: string; readonly answer?: string; readonly findings?: string } | undefined;
  /** fields of a later version, kept as they came */
  readonly unknownFields: Readonly<Record<string, unknown>>;
}

/** State as users see it (interface.md): an open turn shows what it waits for. */
export type RunStatus = 'preparing' | 'reasoning' | 'gating' | 'executing' | 'awaiting' | 'stopping' | TerminalState;

/** Derived: gating while a call lacks a verdict, else executing while an authorized call is open, else awaiting. */
export function statusOf(state: RunState): RunStatus {
  const { stage, turn } = state;
  if (stage !== 'turn' || turn === undefined) return stage === 'turn' ? 'gating' : stage;
  if (turn.calls.length < turn.size) return 'gating';
  let executing = false;
  for (const call of turn.calls) {
    if (call.phase === 'proposed' || call.phase === 'granted') return 'gating';
    if (call.phase === 'authorized') executing = true;
  }
  return executing ? 'executing' : 'awaiting';
}

export function isTerminal(stage: RunStage): stage is TerminalState {
  return stage === 'answered' || stage === 'budget_stop' || stage === 'failed' || stage === 'cancelled';
}
