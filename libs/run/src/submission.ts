import type { EventData } from '@lineclear/contracts';
import { runIdOf } from '@lineclear/contracts';
import { ConflictError, InvariantViolationError, RefusedError, toFailure } from '@lineclear/errors';
import type { Draft } from './draft.js';
import type { AcceptedTask, TaskInput, TaskRefusal } from './input.js';
import type { RunState } from './state.js';
import { recallQuery } from './texts.js';

/** A task starts its run once. The same again is known (200), the same id with another payload is refused (409). */
export function takeTask(draft: Draft, input: TaskInput, run: RunState | undefined): void {
  if (run !== undefined) return takeAgain(draft, input, run);
  const { submission } = input;
  const refusal = 'reason' in submission ? submission : unpriced(submission);
  if (refusal !== undefined) return refuse(draft, input, refusal);
  start(draft, input, submission as AcceptedTask);
}

function takeAgain(draft: Draft, input: TaskInput, run: RunState): void {
  if (input.payloadHash === run.payloadHash) {
    draft.remark('duplicate', 'task');
    return draft.answer({ ok: true, value: { runId: run.runId, known: true } });
  }
  refuse(draft, input, {
    reason: 'payload-mismatch',
    where: 'data',
    seen: input.payloadHash,
    expected: run.payloadHash,
    next: 'send the changed task with a new id',
  });
}

/** A money budget holds nothing back where nothing has a price (scenario 14). */
function unpriced({ price, definition }: AcceptedTask): TaskRefusal | undefined {
  if (price !== null) return undefined;
  return {
    reason: 'refused',
    where: `agent \`${definition.agent}\`, model`,
    seen: `\`${definition.model}\` without a price`,
    expected: 'a model with a price, because the agent has a money budget',
    next: 'give the model a price',
  };
}

function refuse(draft: Draft, { id, taskSource, payloadHash }: TaskInput, refusal: TaskRefusal): void {
  const { reason, where, seen, expected, next } = refusal;
  draft.refuseTask({ taskId: id, taskSource, reason, where, seen, expected, next, payloadHash });
  const details = { reason, where, seen, expected, next };
  const message = `task \`${id.slice(0, 200)}\` is refused: ${where} is ${seen}, expected ${expected}; ${next}`;
  const error =
    reason === 'payload-mismatch'
      ? new ConflictError('payload-mismatch', message, { details })
      : new RefusedError(message, { details });
  draft.answer({ ok: false, failure: toFailure(error) });
}

function start(draft: Draft, input: TaskInput, task: AcceptedTask): void {
  const { definition, principal, price, conversationId, taskType, tags } = task;
  const runId = runIdOf(principal.tenant, input.taskSource, input.id);
  if (input.runId !== runId)
    throw new InvariantViolationError(
      'invariant-violated',
      `task \`${input.id}\` belongs to run \`${runId}\`, not to \`${input.runId}\``,
    );
  const started: Omit<EventData<'run.started'>, 'inputs'> = {
    taskId: input.id,
    taskSource: input.taskSource,
    payloadHash: input.payloadHash,
    definition,
    principal,
    price,
    recall: { k: definition.memory.recall, query: definition.memory.recall === 0 ? '' : recallQuery(task.input) },
    budgets: definition.budget,
    input: { ...task.input },
    label: task.label,
    ...(conversationId !== undefined && { conversationId }),
    ...(taskType !== undefined && { taskType }),
    ...(tags !== undefined && { tags: [...tags] }),
  };
  draft.emit('run.started', started);
  draft.answer({ ok: true, value: { runId, known: false } });
}
