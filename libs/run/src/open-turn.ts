import { proposerOf } from './budget-state.js';
import { closeBy, closeByStatus } from './closing.js';
import type { Draft } from './draft.js';
import { endOrStop, finishWhenFenced } from './ending.js';
import type { CallInput } from './fact.js';
import type { EventInputOf } from './input.js';
import { nextStep } from './next-step.js';
import { aheadBy, isSame, markOf, slotOf } from './slots.js';
import type { CallState } from './state.js';
import { callOf, isComplete, openCalls, toolNamed } from './turn.js';

const MAX_ROUNDS = 5;
/** Not-dispatched for one of these: nothing is wrong with the call, only with its permit. CAUTION: the registry's words. */
const PERMIT_TROUBLE = new Set(['authorization-expired', 'policy-outdated']);

/**
 * An answer to a call of a live run. INVARIANT: each slot of a call is filled once and in its phase; the same again is a no-op, another payload is
 * refused and recorded, an input ahead of its phase is kept.
 */
export function takeCallInput(draft: Draft, input: CallInput): void {
  const call = draft.run.turn?.turn === input.data.turn ? callOf(draft.run, input.data.callId) : undefined;
  if (call === undefined) return takeStray(draft, input);
  const filled = call.marks.find(({ slot }) => slot === slotOf(input));
  if (filled !== undefined) return takeFilled(draft, input, isSame(filled, input));
  if (input.data.round < call.round) return draft.remark('duplicate', `${input.name} of an earlier round`);
  if (input.data.round > call.round) return refuse(draft, input, 'names a round that was not proposed');
  if (isLateResolution(draft, input)) return liftBan(draft, input);
  if (call.phase === 'closed') return late(draft, input);
  if (draft.run.stage === 'stopping') return takeWhileStopping(draft, call, input);
  const ahead = aheadBy(input, call);
  if (ahead < 0) return late(draft, input);
  if (ahead > 0) return draft.note({ name: 'input-kept', callId: call.callId, early: input, mark: markOf(input) });
  applyInOrder(draft, call, input);
}

/** Of an earlier turn, or of no call at all. */
function takeStray(draft: Draft, input: CallInput): void {
  if (isLateResolution(draft, input)) return liftBan(draft, input);
  if (input.data.turn < (draft.run.turn?.turn ?? 0))
    return draft.remark('duplicate', `${input.name} of an earlier turn`);
  refuse(draft, input, 'names a call that was never proposed');
}

function takeFilled(draft: Draft, input: CallInput, same: boolean): void {
  if (same) return draft.remark('duplicate', input.name);
  refuse(draft, input, 'repeats an answered slot with another payload');
}

function refuse(draft: Draft, input: CallInput, what: string): void {
  draft.remark('violation', `${input.name} ${what}`);
  if (!draft.run.pending.some(({ id }) => id === input.id))
    draft.note({ name: 'violation', what: `${input.name} ${what}`, callId: input.data.callId });
}

function late(draft: Draft, input: CallInput): void {
  draft.remark('late', input.name);
  draft.note({ name: 'late', what: input.name, callId: input.data.callId, mark: markOf(input) });
}

/** After the call closed as unknown, its resolution only lifts the ban on repeating it. */
function isLateResolution(draft: Draft, input: CallInput): input is EventInputOf<'tool-call.resolved'> {
  return (
    input.name === 'tool-call.resolved' && draft.run.tried.unknown.some(({ callId }) => callId === input.data.callId)
  );
}

function liftBan(draft: Draft, { data }: EventInputOf<'tool-call.resolved'>): void {
  draft.note({ name: 'unknown-resolved', callId: data.callId, happened: data.outcome === 'happened' });
}

function takeWhileStopping(draft: Draft, call: CallState, input: CallInput): void {
  if (input.name !== 'tool-call.completed') return late(draft, input);
  closeBy(draft, call, input);
  finishWhenFenced(draft);
}

/** Applies an input whose phase has come, then the kept ones whose phase comes by that. */
function applyInOrder(draft: Draft, call: CallState, input: CallInput): void {
  let due: CallInput | undefined = input;
  while (due !== undefined && draft.run.stage === 'turn') {
    apply(draft, callOf(draft.run, call.callId) ?? call, due);
    const now = callOf(draft.run, call.callId);
    due = now?.early.find((early) => early.data.round === now.round && aheadBy(early, now) === 0);
  }
  afterCalls(draft);
}

function apply(draft: Draft, call: CallState, input: CallInput): void {
  const { callId } = call;
  switch (input.name) {
    case 'tool-call.referred':
      return draft.note({ name: 'call-referred', callId, rules: input.data.rules, mark: markOf(input) });
    case 'approval.granted':
      return draft.note({ name: 'call-granted', callId, approvalId: input.data.approvalId, mark: markOf(input) });
    case 'tool-call.authorized': {
      const { rules, claims, edited } = input.data;
      const changed = edited ? { arguments: input.data.arguments, digest: claims.digest } : {};
      return draft.note({ name: 'call-authorized', callId, rules, ...changed, mark: markOf(input) });
    }
    case 'tool-call.denied':
      closeBy(draft, call, input);
      if (input.data.terminal)
        endOrStop(draft, { target: 'failed', reason: `policy ended the run: ${input.data.reason}`, by: 'policy' });
      return;
    case 'tool-call.completed':
      return applyCompletion(draft, call, input);
    default:
      return closeBy(draft, call, input);
  }
}

function applyCompletion(draft: Draft, call: CallState, input: EventInputOf<'tool-call.completed'>): void {
  const { status, reason } = input.data;
  if (status === 'not-dispatched' && PERMIT_TROUBLE.has(reason ?? '') && call.round < MAX_ROUNDS)
    return proposeAgain(draft, call);
  const waitMs = toolNamed(draft.run, call.tool)?.traits.unknownWaitMs ?? 0;
  if (status !== 'unknown' || waitMs === 0) return closeBy(draft, call, input);
  const untilMs = Date.parse(draft.input.at) + waitMs;
  draft.note({ name: 'call-unknown', callId: call.callId, untilMs, mark: markOf(input) });
}

/** The same call, key and digest in a new round: always stage `first`, naming the grant, costing no step. */
function proposeAgain(draft: Draft, call: CallState): void {
  const { callId, turn, index, tool, definitionHash, digest, approvalId } = call;
  draft.emit('tool-call.proposed', {
    callId,
    turn,
    index,
    round: call.round + 1,
    stage: 'first',
    tool,
    definitionHash,
    arguments: { ...call.arguments },
    digest,
    ...proposerOf(draft.run, Date.parse(draft.input.at)),
    ...(approvalId !== undefined && { approvalId }),
  });
}

/** The wait for a resolution is over: what is still unknown is the result. */
export function endUnknownWaits(draft: Draft): void {
  const now = Date.parse(draft.input.at);
  const over = openCalls(draft.run).filter(
    ({ unknownUntilMs }) => unknownUntilMs !== undefined && unknownUntilMs <= now,
  );
  if (draft.run.stage !== 'turn' || over.length === 0) return draft.remark('duplicate', 'timer unknown');
  for (const call of over) closeByStatus(draft, call, 'unknown');
  afterCalls(draft);
}

/** When every call of the turn has its result, the model is asked again. */
export function afterCalls(draft: Draft): void {
  const { stage, turn } = draft.run;
  if (stage === 'turn' && turn !== undefined && isComplete(turn)) nextStep(draft);
}
