import { type Failure, InvariantViolationError, NotFoundError, toFailure } from '@lineclear/errors';
import type { CommandInput, LaneBatch, LaneInput, WriteSet } from '@lineclear/messaging';
import { type CommandAnswer, decide, type Decision, type RunInput } from '@lineclear/run';
import { REFUSED_TASK_STORE } from '../adapters/postgres/refused-task-store.js';
import { RUN_STORE } from '../adapters/postgres/run-store.js';
import { REFUSED_TASK } from '../adapters/postgres/run-tables.js';
import { type Refusal, refusalFailure } from '../domain/refusal.js';
import type { Submission } from '../domain/submission.js';
import { SUBMIT_TASK } from './names.js';
import { toRunInput } from './run-input.js';
import type { StoredRun } from './stored-run.js';
import { type Aggregate, writeDecision } from './write-decision.js';

type TaskInput = RunInput & { readonly kind: 'task' };

export interface RunInputsContext {
  /** What a submission means to the core, under the present configuration. */
  readonly taskInput: (command: CommandInput<Submission>, at: string) => TaskInput;
  /** Told of every decision, before anything is committed: for logs, and to keep what a started model job will need. */
  readonly decided: (run: Aggregate, input: RunInput, decision: Decision, after: StoredRun | undefined) => void;
}

/**
 * The orchestrator's one batch handler: loads the runs of the batch at once, then for each input decides and writes facts, events, jobs, timers and
 * the answer. An input that fails is taken out alone.
 */
export async function handleRunInputs(
  inputs: readonly LaneInput[],
  batch: LaneBatch,
  context: RunInputsContext,
): Promise<void> {
  await batch.load(RUN_STORE, [...new Set(inputs.map((input) => input.key))]);
  const submitted = inputs.filter(isSubmission).map((input) => input.key);
  if (submitted.length > 0) await batch.load(REFUSED_TASK_STORE, [...new Set(submitted)]);
  for (const input of inputs)
    batch.attempt(input, (writes) => {
      if (isSubmission(input)) submitTask(input, batch, writes, context);
      else advanceRun(input, batch, writes, context);
    });
}

const isSubmission = (input: LaneInput): input is CommandInput<Submission> =>
  input.kind === 'command' && input.name === SUBMIT_TASK;

/** A refusal is told once per task id and payload; the same task sent again gets the same answer and no second event. */
function submitTask(
  command: CommandInput<Submission>,
  batch: LaneBatch,
  writes: WriteSet,
  context: RunInputsContext,
): void {
  const { key, tenant, payload } = command;
  const refused = batch.state(REFUSED_TASK_STORE, key);
  const told = refused?.get(payload.payloadHash);
  if (told) return writes.answer({ ok: false, failure: told });
  const before = batch.state(RUN_STORE, key);
  const input = context.taskInput(command, batch.now.toISOString());
  const decision = decide(input, before?.state);
  const failure = failureOf(input, before, decision);
  if (failure) {
    const row = { run_id: key, payload_hash: payload.payloadHash, tenant, failure: JSON.stringify(failure) };
    writes.insertOnce(REFUSED_TASK, row);
    writes.setState(REFUSED_TASK_STORE, key, new Map([...(refused ?? []), [payload.payloadHash, failure]]));
  }
  const answer: CommandAnswer | undefined = failure ? { ok: false, failure } : decision.answer;
  keep(
    { runId: key, tenant },
    { input, before, decision: { ...decision, ...(answer && { answer }) } },
    writes,
    context,
  );
}

/** What a refused sender is told; a task that was judged and found wanting keeps the code of its own fault. */
function failureOf(
  { id, taskSource, submission }: TaskInput,
  run: StoredRun | undefined,
  { answer }: Decision,
): Failure | undefined {
  if (!answer || answer.ok) return undefined;
  const isJudged = !run && 'reason' in submission;
  return isJudged ? refusalFailure(submission as Refusal, { id, source: taskSource }) : answer.failure;
}

function advanceRun(input: LaneInput, batch: LaneBatch, writes: WriteSet, context: RunInputsContext): void {
  const before = batch.state(RUN_STORE, input.key);
  if (!before || !isOfTenant(input, before.state.principal.tenant)) return refuseForeign(input, before, writes);
  const runInput = toRunInput(input, batch.now.toISOString());
  const decision = decide(runInput, before.state);
  const run = { runId: input.key, tenant: before.state.principal.tenant };
  keep(run, { input: runInput, before, decision }, writes, context);
}

interface Step {
  readonly input: RunInput;
  readonly before: StoredRun | undefined;
  readonly decision: Decision;
}

function keep(run: Aggregate, { input, before, decision }: Step, writes: WriteSet, context: RunInputsContext): void {
  const after = writeDecision(writes, run, before, decision);
  if (after && after !== before) writes.setState(RUN_STORE, run.runId, after);
  if (decision.answer) writes.answer(decision.answer);
  context.decided(run, input, decision, after);
}

function isOfTenant(input: LaneInput, tenant: string): boolean {
  if (input.kind === 'event' || input.kind === 'dropped') return input.event.tenant === tenant;
  return input.kind !== 'command' || input.tenant === tenant;
}

/**
 * Another tenant's run looks to a caller as if it did not exist; on the bus it is a broken rule, and nobody waits for such a message once an operator
 * dropped it.
 */
function refuseForeign(input: LaneInput, run: StoredRun | undefined, writes: WriteSet): void {
  if (input.kind === 'dropped') return;
  const missing = new NotFoundError(`run \`${input.key}\` does not exist`);
  if (input.kind === 'command') return writes.answer({ ok: false, failure: toFailure(missing) });
  if (!run) throw missing;
  throw new InvariantViolationError('invariant-violated', `an input of run \`${input.key}\` belongs to another tenant`);
}
