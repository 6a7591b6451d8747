import type { DispatchInput, JobInput, JobOutcome } from '@lineclear/messaging';
import type { Catalogue } from '../adapters/postgres/catalogue-reader.js';
import { dispatched, type Effect, isOpen } from '../domain/effect.js';
import { refusalOf } from '../domain/gate.js';
import { type AttemptEnd, settleAttempt, type SettleStep, settleWaiting } from '../domain/settle.js';
import { QUIET_TIMER, type ToolCallJob } from './run-commands.js';
import type { RunWriter } from './run-writer.js';
import { startAttempt } from './take-authorization.js';

/** The end of an attempt, from its executor or from the lane that lost it. */
export function takeResult(run: RunWriter, { payload, attempt, outcome }: JobInput<ToolCallJob, AttemptEnd>): void {
  const effect = run.run.calls.get(payload.callId);
  if (effect === undefined) return;
  const moment = { nowMs: run.now.getTime(), isStopped: run.run.stop > 0 };
  applyStep(run, settleAttempt(effect, attempt, endOf(outcome, moment.isStopped), moment), payload);
}

function endOf(outcome: JobOutcome<AttemptEnd>, isStopped: boolean): AttemptEnd {
  switch (outcome.status) {
    case 'done':
      return outcome.result;
    case 'lost':
      return { kind: 'lost' };
    case 'failed':
      return { kind: 'silent', reason: outcome.failure.code === 'timed-out' ? 'timeout' : 'no-answer' };
    case 'not-dispatched':
      return { kind: 'not-sent', reason: isStopped ? 'run-stopped' : outcome.reason, isRetryable: !isStopped };
  }
}

/** A job that waited gets a slot: what was true at the intent may no longer be. A repetition is not refused for its age. */
export function takeDispatch(
  run: RunWriter,
  { id, payload, attempt }: DispatchInput<ToolCallJob>,
  catalogue: Catalogue,
): void {
  const effect = run.run.calls.get(payload.callId);
  if (effect === undefined || !isOpen(effect) || effect.attempt !== attempt) return run.writes.dropJob(id);
  const moment = { nowMs: run.now.getTime(), isStopped: run.run.stop > 0 };
  const gate = { ...moment, notBeforeVersion: catalogue.notBeforeVersion, tool: catalogue.tools.get(effect.tool) };
  const ageless = { ...effect, expiresAtMs: Number.MAX_SAFE_INTEGER, policyVersion: Number.MAX_SAFE_INTEGER };
  const refusal = refusalOf(attempt > 1 ? ageless : effect, gate);
  if (refusal === undefined) return run.effect(dispatched(effect, moment.nowMs));
  run.writes.dropJob(id);
  const isRetryable = refusal === 'tool-unavailable';
  applyStep(run, settleAttempt(effect, attempt, { kind: 'not-sent', reason: refusal, isRetryable }, moment), payload);
}

/** The run was stopped before this attempt got its slot; its job is gone. */
export function closeQueued(run: RunWriter, effect: Effect): void {
  const end: AttemptEnd = { kind: 'not-sent', reason: 'run-stopped', isRetryable: false };
  applyStep(run, settleAttempt(effect, effect.attempt, end, { nowMs: run.now.getTime(), isStopped: true }), undefined);
}

/** Settles what waited for a lost attempt to be unable to act. */
export function takeQuietTimer(run: RunWriter): void {
  const waiting = [...run.run.calls.values()].filter(({ isWaiting }) => isWaiting);
  for (const effect of waiting) applyStep(run, settleWaiting(effect, run.now.getTime()), undefined);
}

function applyStep(run: RunWriter, step: SettleStep, payload: ToolCallJob | undefined): void {
  switch (step.kind) {
    case 'stale':
      return;
    case 'repeat':
      run.effect(step.effect);
      if (payload !== undefined) startAttempt(run, step.effect, payload);
      return;
    case 'wait':
      run.effect(step.effect);
      return setQuietTimer(run);
    case 'close': {
      const { effect, completion } = step;
      run.effect(effect, { result: completion.result });
      run.claim(effect, { result: completion.result });
      return run.completed(effect, completion, effect);
    }
  }
}

/** One timer a run, for the earliest that waits. */
function setQuietTimer(run: RunWriter): void {
  const times = [...run.run.calls.values()].flatMap(({ isWaiting, unheardUntilMs }) =>
    isWaiting && unheardUntilMs !== null ? [unheardUntilMs] : [],
  );
  run.writes.setTimer({ key: run.runId, name: QUIET_TIMER, dueAt: new Date(Math.min(...times)) });
}
