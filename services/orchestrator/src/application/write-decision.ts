import type { NewEvent, WriteSet } from '@lineclear/messaging';
import { type Decision, type Fact, isTerminal, type PlanItem, type RunState, statusOf } from '@lineclear/run';
import { RUN_SNAPSHOT, RUN_STREAM, RUN_SUMMARY } from '../adapters/postgres/run-tables.js';
import { quietUntilMs } from '../domain/quiet-until.js';
import { MODEL_CALL, type ModelCallPayload } from './names.js';
import { inputOf, needsSnapshot, snapshotText, type StoredRun } from './stored-run.js';

/** How long a model job may wait for a slot, and how long it may run. */
const MODEL_DISPATCH_MS = 600_000;
const MODEL_TIMEOUT_MS = 300_000;
/** A summary row is not written again for less. */
const QUIET_SLACK_MS = 5_000;

export interface Aggregate {
  readonly runId: string;
  readonly tenant: string;
}

/** Puts one decision into the write set: facts under their expected version, events, jobs, timers. Returns the run as it is then. */
export function writeDecision(
  writes: WriteSet,
  run: Aggregate,
  before: StoredRun | undefined,
  decision: Decision,
): StoredRun | undefined {
  const { state } = decision;
  for (const fact of decision.facts) if (fact.kind === 'event') writes.emit(eventOf(run, fact, state));
  for (const item of decision.plan) writePlanItem(writes, run, item);
  const facts = decision.facts.filter(isOfRun);
  if (!state || facts.length === 0) return before;
  const version = (before?.state.version ?? 0) + 1;
  writes.insert(RUN_STREAM, { run_id: run.runId, version, facts: JSON.stringify(facts) });
  const input = before?.input ?? firstInput(facts);
  const after = { state, input, snapshotVersion: before?.snapshotVersion ?? 0, summary: before?.summary };
  const isLate = before !== undefined && isTerminal(before.state.stage);
  return isLate ? writeSnapshot(writes, after) : writeSummary(writes, writeSnapshot(writes, after));
}

/** A refusal is about a task, not about the run that has its id already. */
const isOfRun = (fact: Fact): boolean => fact.name !== 'task.refused';

function eventOf({ runId, tenant }: Aggregate, fact: Fact & { kind: 'event' }, state: RunState | undefined): NewEvent {
  const { name, data, sequence } = fact;
  return {
    name,
    key: runId,
    tenant,
    data,
    ...(state && { label: state.label }),
    ...(sequence === undefined ? {} : { sequence }),
  };
}

function firstInput(facts: readonly Fact[]): StoredRun['input'] {
  for (const fact of facts) {
    const input = inputOf(fact);
    if (input) return input;
  }
  return {};
}

function writePlanItem(writes: WriteSet, { runId, tenant }: Aggregate, item: PlanItem): void {
  switch (item.do) {
    case 'start-model-call': {
      const { jobId, step, attempt } = item;
      const payload: ModelCallPayload = { runId, step, attempt };
      return writes.startJob({
        id: jobId,
        kind: MODEL_CALL,
        key: runId,
        tenant,
        attempt,
        payload,
        dispatchByMs: MODEL_DISPATCH_MS,
        timeoutMs: MODEL_TIMEOUT_MS,
        lost: 'at-once',
      });
    }
    case 'abort-job':
      return writes.abortJob(item.jobId);
    case 'set-timer':
      return writes.setTimer({ key: runId, name: item.name, dueAt: new Date(item.dueAtMs) });
    case 'clear-timer':
      return writes.clearTimer(runId, item.name);
  }
}

function writeSnapshot(writes: WriteSet, run: StoredRun): StoredRun {
  if (!needsSnapshot(run)) return run;
  const { runId, version } = run.state;
  writes.put(RUN_SNAPSHOT, { run_id: runId, version, state: snapshotText(run) });
  return { ...run, snapshotVersion: version };
}

/** The summary is written when a reader would see a difference, or when the run may be silent for longer than the row says. */
function writeSummary(writes: WriteSet, run: StoredRun): StoredRun {
  const { state, summary } = run;
  const quietUntil = quietUntilMs(state);
  const now = { state: statusOf(state), turn: state.totals.turns, quietUntilMs: quietUntil ?? 0 };
  const isShown = summary?.state === now.state && summary.turn === now.turn;
  if (isShown && now.quietUntilMs <= summary.quietUntilMs + QUIET_SLACK_MS) return run;
  writes.put(RUN_SUMMARY, {
    run_id: state.runId,
    tenant: state.principal.tenant,
    task_id: state.taskId,
    task_source: state.taskSource,
    agent: state.definition.agent,
    state: now.state,
    reason: state.finished?.reason ?? state.stop?.reason ?? null,
    turn: now.turn,
    started_at: new Date(state.startedMs),
    changed_at: new Date(state.nowMs),
    finished_at: isTerminal(state.stage) ? new Date(state.nowMs) : null,
    quiet_until: quietUntil === undefined || quietUntil === Infinity ? null : new Date(quietUntil),
  });
  return { ...run, summary: now };
}
