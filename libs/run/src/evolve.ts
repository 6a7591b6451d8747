import { evolveEvent, startRun } from './evolve-event.js';
import { evolveNote } from './evolve-note.js';
import type { Fact } from './fact.js';
import { isTerminal, type RunState, statusOf } from './state.js';

/** The state after one fact. `state` is undefined before run.started. O(1) amortised, never changes `state` in place. */
export function evolve(state: RunState | undefined, fact: Fact): RunState | undefined {
  if (fact.kind === 'event' && fact.name === 'task.refused') return state;
  if (state === undefined) return fact.kind === 'event' && fact.name === 'run.started' ? startRun(fact) : undefined;
  const counted = countFact(state, fact);
  return runClock(state, fact.kind === 'event' ? evolveEvent(counted, fact) : evolveNote(counted, fact));
}

/** After the end the clock and the list of inputs stand: what comes is only recorded. */
function countFact(state: RunState, fact: Fact): RunState {
  const version = state.version + 1;
  if (isTerminal(state.stage)) return { ...state, version };
  const nowMs = Math.max(state.nowMs, Date.parse(fact.at));
  if (fact.kind === 'event') return { ...state, nowMs, version, sequence: state.sequence + 1, pending: [] };
  return {
    ...state,
    nowMs,
    version,
    pending: fact.input === undefined ? state.pending : [...state.pending, fact.input],
  };
}

/** The active clock stands while the run is in `awaiting`, and from its end on. */
function runClock(before: RunState, after: RunState): RunState {
  const { spentMs, sinceMs } = before.active;
  const status = statusOf(after);
  const runs = status !== 'awaiting' && !isTerminal(after.stage);
  if (runs === (sinceMs !== undefined)) return after;
  if (sinceMs === undefined) return { ...after, active: { spentMs, sinceMs: after.nowMs } };
  return { ...after, active: { spentMs: spentMs + after.nowMs - sinceMs, sinceMs: undefined } };
}
