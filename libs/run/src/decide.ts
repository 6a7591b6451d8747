import { takeAfterTheEnd, takeForNoRun } from './after-end.js';
import type { Decision } from './decision.js';
import { Draft } from './draft.js';
import { budgetReason, endOrStop, repeatStop, takeFence } from './ending.js';
import type { CommandReceived, EventInputOf, RunInput, RunInputEventName, RunTimer } from './input.js';
import { endUnknownWaits, takeCallInput } from './open-turn.js';
import { dueOf } from './plan.js';
import { endRecallWait, takeRecall, takeToolset } from './preparing.js';
import { takeModelCall } from './reasoning.js';
import { isTerminal, type RunState } from './state.js';
import { takeTask } from './submission.js';

/**
 * What a run does on one input. The loop of a run, from here:
 *
 *     task → run.started → toolset and recall (preparing.ts)
 *       → model call (next-step.ts) → its reply (reasoning.ts) → each call proposed or refused (gate.ts)
 *       → verdicts, approvals, completions (open-turn.ts) → when every call has its result: model call …
 *       → run.finished (ending.ts), through run.stop-started while calls are open
 *
 * Pure: time is `input.at`. Throws NotFoundError for an event or job of a run that does not exist.
 */
export function decide(input: RunInput, state: RunState | undefined): Decision {
  const draft = new Draft(input, state);
  if (input.kind === 'task') takeTask(draft, input, state);
  else if (state === undefined) takeForNoRun(draft, input);
  else if (isTerminal(state.stage)) takeAfterTheEnd(draft, input);
  else takeLive(draft, input);
  return draft.decision();
}

type LiveInput = Exclude<RunInput, { readonly kind: 'task' }>;

function takeLive(draft: Draft, input: LiveInput): void {
  switch (input.kind) {
    case 'event':
      return takeEvent(draft, input);
    case 'job':
      return takeModelCall(draft, input);
    case 'timer':
      return takeTimer(draft, input.name);
    case 'command':
      return takeCommand(draft, input);
  }
}

function takeEvent(draft: Draft, input: EventInputOf<RunInputEventName>): void {
  switch (input.name) {
    case 'toolset.resolved':
      return takeToolset(draft, input);
    case 'memory.recalled':
      return takeRecall(draft, input);
    case 'run.fenced':
      return draft.run.stage === 'stopping' ? takeFence(draft, input) : draft.remark('late', input.name);
    default:
      return takeCallInput(draft, input);
  }
}

/** A timer counts only when the state says that it is due: a stale row changes nothing. */
function takeTimer(draft: Draft, name: RunTimer): void {
  const due = dueOf(draft.run, name);
  if (due === undefined || due > Date.parse(draft.input.at)) return draft.remark('duplicate', `timer ${name}`);
  switch (name) {
    case 'recall':
      return endRecallWait(draft);
    case 'unknown':
      return endUnknownWaits(draft);
    case 'stop':
      return repeatStop(draft);
    case 'wall':
    case 'active': {
      const reason = budgetReason(draft.run, name === 'wall' ? 'wallMs' : 'activeMs');
      return endOrStop(draft, { target: 'budget_stop', reason, by: 'platform' });
    }
  }
}

function takeCommand(draft: Draft, { name, payload, by }: CommandReceived): void {
  const because = typeof payload['reason'] === 'string' && payload['reason'] !== '' ? `: ${payload['reason']}` : '';
  const stopping = draft.run.stage === 'stopping';
  if (name === 'drop') {
    const reason = `an operator dropped \`${String(payload['name'])}\` of this run${because}`;
    if (stopping) repeatStop(draft);
    else endOrStop(draft, { target: 'failed', reason, by });
  } else if (stopping) {
    draft.remark('late', 'cancel');
    draft.note({ name: 'late', what: 'cancel' });
  } else endOrStop(draft, { target: 'cancelled', reason: `cancelled by \`${by}\`${because}`, by });
  draft.answer({ ok: true, value: { runId: draft.run.runId, state: draft.run.stage } });
}
