import type { BudgetKind, TerminalState } from '@lineclear/contracts';
import type { Draft } from './draft.js';
import type { EventInputOf } from './input.js';
import { freeOf } from './ledger.js';
import type { CallState, RunState } from './state.js';
import { clocksOf } from './budget-state.js';
import { closeBy, closeByStatus } from './closing.js';
import { cancelledText, findingsOf } from './texts.js';
import { openCalls } from './turn.js';

export interface Ending {
  readonly target: TerminalState;
  readonly reason: string;
  /** who asked for it; `platform` for a budget or a policy */
  readonly by: string;
}

/** Ends the run now, or through `stopping` while tool calls are open. An open model call needs no stopping: it is aborted and charged in full. */
export function endOrStop(draft: Draft, ending: Ending): void {
  if (draft.run.stage !== 'turn' || openCalls(draft.run).length === 0) finish(draft, ending);
  else startStop(draft, ending);
}

export function finish(draft: Draft, { target, reason }: Omit<Ending, 'by'>, answer?: string): void {
  abandonModelCall(draft);
  const { run } = draft;
  const { turns, usage, costMicros, approvals, effects, unknown } = run.totals;
  draft.emit('run.finished', {
    state: target,
    reason,
    ...(answer === undefined ? { findings: findingsOf(run) } : { answer }),
    totals: {
      steps: run.ledger.steps.spent,
      turns,
      usage,
      costMicros,
      toolCalls: run.ledger.toolCalls.spent,
      approvals,
      effects,
      unknown,
      ...clocksOf(run, Date.parse(draft.input.at)),
    },
  });
}

function abandonModelCall(draft: Draft): void {
  const { modelCall, definition } = draft.run;
  if (modelCall === undefined) return;
  const { step, attempt, reservation } = modelCall;
  draft.emit('model-call.completed', {
    step,
    attempt,
    status: 'lost',
    reason: 'aborted',
    usage: lostUsage(reservation.inputTokens, definition.maxOutputTokens),
    costMicros: reservation.costMicros,
  });
}

/** A lost attempt may have been billed in full: it is charged its reservation. */
export const lostUsage = (inputTokens: number, output: number) => ({
  uncached: inputTokens,
  cacheRead: 0,
  cacheWrite: 0,
  output,
  reasoning: 0,
  estimated: true,
});

/** Why a budget ends the run, in one plain sentence. */
export function budgetReason(run: RunState, kind: BudgetKind): string {
  if (kind === 'wallMs' || kind === 'activeMs')
    return `the ${kind === 'wallMs' ? 'wall time' : 'active time'} budget of ${run.definition.budget[kind]} ms is used up`;
  const line = run.ledger[kind];
  if (freeOf(line) <= 0) return `the budget of ${line.limit} ${kind} is used up`;
  return `the ${freeOf(line)} ${kind} left of ${line.limit} do not cover the worst case of the next step`;
}

function startStop(draft: Draft, { target, reason, by }: Ending): void {
  draft.emit('run.stop-started', { n: 1, target, reason, by });
  for (const call of openCalls(draft.run)) {
    const early = call.early.find((input) => input.name === 'tool-call.completed' && input.data.round === call.round);
    if (early?.name === 'tool-call.completed') closeBy(draft, call, early);
    else if (call.phase === 'unknown') closeByStatus(draft, call, 'unknown');
  }
}

/** Asks the registry again: it answers each new n with a fresh run.fenced. */
export function repeatStop(draft: Draft): void {
  const { stop } = draft.run;
  if (stop === undefined) return;
  const { n, target, reason, by } = stop;
  draft.emit('run.stop-started', { n: n + 1, target, reason, by });
}

/** The registry's promise: settled calls have their status, listed ones will get a completion, the others will never start. */
export function takeFence(draft: Draft, { data }: EventInputOf<'run.fenced'>): void {
  const { stop } = draft.run;
  if (stop === undefined || data.n <= stop.fencedN) return draft.remark('duplicate', `run.fenced ${data.n}`);
  draft.note({ name: 'fence-noted', n: data.n });
  const settled = new Map(data.settled.map(({ callId, status }) => [callId, status]));
  for (const call of openCalls(draft.run)) {
    const status = settled.get(call.callId);
    if (status !== undefined) closeByStatus(draft, call, status);
    else if (!data.open.includes(call.callId)) refuseStopped(draft, call);
  }
  finishWhenFenced(draft);
}

function refuseStopped(draft: Draft, { callId, turn, index, round, stage, tool }: CallState): void {
  draft.emit('tool-call.refused', {
    callId,
    turn,
    index,
    round,
    stage,
    tool,
    reason: 'run-stopped',
    message: cancelledText,
  });
}

export function finishWhenFenced(draft: Draft): void {
  const { stop } = draft.run;
  if (stop !== undefined && stop.fencedN > 0 && openCalls(draft.run).length === 0) finish(draft, stop);
}
