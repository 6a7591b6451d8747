import { ConflictError, NotFoundError, toFailure } from '@lineclear/errors';
import type { Draft } from './draft.js';
import type { CallInput } from './fact.js';
import type { RunInput } from './input.js';
import { isSame, markOf, slotOf } from './slots.js';
import { callOf } from './turn.js';

type LiveInput = Exclude<RunInput, { readonly kind: 'task' }>;

/** Nothing changes a finished run: what comes is recorded as late, once; a command is answered 409. */
export function takeAfterTheEnd(draft: Draft, input: LiveInput): void {
  if (input.kind === 'command') {
    draft.remark('late', input.name);
    const { runId, stage } = draft.run;
    const error = new ConflictError('already-ended', `run \`${runId}\` has ended as ${stage}`, {
      details: { runId, state: stage },
    });
    return draft.answer({ ok: false, failure: toFailure(error) });
  }
  if (input.kind === 'event' && isCallInput(input)) return takeCallInputLate(draft, input);
  draft.remark('late', input.kind === 'job' ? 'model call' : input.name);
}

function isCallInput(input: LiveInput & { readonly kind: 'event' }): input is CallInput {
  return input.name !== 'toolset.resolved' && input.name !== 'memory.recalled' && input.name !== 'run.fenced';
}

function takeCallInputLate(draft: Draft, input: CallInput): void {
  const { callId } = input.data;
  const call = callOf(draft.run, callId);
  if (call === undefined || input.data.round < call.round)
    return draft.remark('duplicate', `${input.name} of an earlier turn or round`);
  const filled = call.marks.find(({ slot }) => slot === slotOf(input));
  if (filled !== undefined) return draft.remark(isSame(filled, input) ? 'duplicate' : 'violation', input.name);
  draft.remark('late', input.name);
  draft.note({ name: 'late', what: input.name, callId, mark: markOf(input) });
}

/** An event or job of a run that does not exist is a broken rule; a timer of it is stale, a command has nothing to act on. */
export function takeForNoRun(draft: Draft, input: LiveInput): void {
  const error = new NotFoundError(`the run of input \`${input.id}\` does not exist`);
  if (input.kind === 'command') return draft.answer({ ok: false, failure: toFailure(error) });
  if (input.kind !== 'timer') throw error;
  draft.remark('late', `timer ${input.name}`);
}
