import type { PlanItem } from './decision.js';
import { RUN_TIMERS, type RunInput, type RunTimer } from './input.js';
import { isTerminal, type RunState } from './state.js';

const RECALL_MS = 2_000;
export const STOP_REPEAT_MS = 10_000;

/** 31 December 9999: budgets may be larger than any calendar. */
const LAST_MS = 253_402_214_400_000;

/** What has to be started, set and taken back so that jobs and timers fit the state: the difference of two states. */
export function planOf(before: RunState | undefined, after: RunState | undefined, input: RunInput): PlanItem[] {
  if (before === after) return rearm(after, input);
  const plan: PlanItem[] = [];
  const [was, is] = [before?.modelCall, after?.modelCall];
  if (was !== undefined && was.jobId !== is?.jobId && input.kind !== 'job')
    plan.push({ do: 'abort-job', jobId: was.jobId });
  if (is !== undefined && is.jobId !== was?.jobId)
    plan.push({ do: 'start-model-call', jobId: is.jobId, step: is.step, attempt: is.attempt });
  const fired = input.kind === 'timer' ? input.name : undefined;
  for (const name of RUN_TIMERS) {
    const due = dueOf(after, name);
    const set = name === fired ? undefined : dueOf(before, name);
    if (due !== undefined && due !== set) plan.push({ do: 'set-timer', name, dueAtMs: due });
    if (due === undefined && set !== undefined) plan.push({ do: 'clear-timer', name });
  }
  return plan;
}

/** A timer that fired without effect, before its time, is set again. */
function rearm(state: RunState | undefined, input: RunInput): PlanItem[] {
  if (input.kind !== 'timer') return [];
  const due = dueOf(state, input.name);
  return due === undefined ? [] : [{ do: 'set-timer', name: input.name, dueAtMs: due }];
}

/** When a timer of this state is due, epoch ms; undefined when it has none. */
export function dueOf(state: RunState | undefined, name: RunTimer): number | undefined {
  if (state === undefined || isTerminal(state.stage)) return undefined;
  if (name === 'stop') return state.stop === undefined ? undefined : state.stop.startedMs + STOP_REPEAT_MS;
  const due = state.stage === 'stopping' ? undefined : liveDue(state, name);
  return due === undefined ? undefined : Math.min(due, LAST_MS);
}

function liveDue(state: RunState, name: Exclude<RunTimer, 'stop'>): number | undefined {
  const { activeMs, wallMs } = state.definition.budget;
  switch (name) {
    case 'recall':
      return state.stage === 'preparing' && !state.recalled ? state.startedMs + RECALL_MS : undefined;
    case 'wall':
      return state.startedMs + wallMs;
    case 'active':
      return state.active.sinceMs === undefined ? undefined : state.active.sinceMs + activeMs - state.active.spentMs;
    case 'unknown': {
      let first: number | undefined;
      for (const call of state.turn?.calls ?? [])
        if (call.unknownUntilMs !== undefined) first = Math.min(first ?? Infinity, call.unknownUntilMs);
      return first;
    }
  }
}
