import { approvalIdOf, type EventData, type EventName } from '@lineclear/contracts';
import { InvariantViolationError, NotFoundError, toFailure } from '@lineclear/errors';
import type { CommandInput, DroppedInput, EventInput, LaneBatch, LaneInput, WriteSet } from '@lineclear/messaging';
import { APPROVAL_ATTEMPT, RUN_APPROVALS, STOPPED_RUN } from '../adapters/postgres/approval-store.js';
import { type Approval, NO_APPROVALS, requested, type RunApprovals } from '../domain/approval.js';
import { decideApproval, expire, withdraw } from '../domain/decide-approval.js';
import { approvalView } from './approval-view.js';
import { DECIDE, type DecidePayload, EXPIRY } from './names.js';
import { type Change, writeChange } from './write-change.js';

type Referred = EventData<'tool-call.referred'>;

/** Everything about the approvals of runs, in the order of each run: requests, answers, expiry, stops. */
export async function handleApprovals(inputs: readonly LaneInput[], batch: LaneBatch): Promise<void> {
  await batch.load(
    RUN_APPROVALS,
    inputs.map(({ key }) => key),
  );
  for (const input of inputs) batch.attempt(input, (writes) => handle(input, batch, writes));
}

function handle(input: LaneInput, batch: LaneBatch, writes: WriteSet): void {
  const state = batch.state(RUN_APPROVALS, input.key) ?? NO_APPROVALS;
  const change = (next: readonly Change[], stopped = state.stopped) =>
    write(input, state, { next, stopped, at: batch.now }, writes);
  if (isEvent(input, 'tool-call.referred')) return change(refer(input, state, batch.now));
  if (isEvent(input, 'run.stop-started')) return stop(input, state, batch, writes);
  if (input.kind === 'dropped' && input.name === 'tool-call.referred') return change(drop(input, state, batch.now));
  if (input.kind === 'timer' && input.name === EXPIRY)
    return change(
      pending(state)
        .filter(isDue(batch.now))
        .map((approval) => ({ approval: expire(approval, batch.now) })),
    );
  if (input.kind === 'command' && input.name === DECIDE)
    return decide(input as CommandInput<DecidePayload>, state, batch, writes);
  throw new InvariantViolationError('invariant-violated', `the approval service has no way to handle a ${input.kind}`);
}

/** One request per call and round; of a run that is stopping it is withdrawn at once. */
function refer(input: EventInput<'tool-call.referred'>, state: RunApprovals, now: Date): Change[] {
  const approval = approvalFor(input, now);
  if (state.byId.has(approval.approvalId)) return [];
  return [
    state.stopped
      ? { approval: withdraw(approval, 'the run is stopping', now), isNew: true }
      : { approval, isNew: true },
  ];
}

function drop(input: DroppedInput, state: RunApprovals, now: Date): Change[] {
  const approval = approvalFor(input as DroppedInput<'tool-call.referred'>, now);
  if (state.byId.has(approval.approvalId)) return [];
  return [{ approval: withdraw(approval, `dropped by ${input.by}: ${input.reason}`, now), isNew: true }];
}

function approvalFor({ event, key }: { key: string; event: { tenant: string; data: Referred } }, now: Date): Approval {
  const { callId, round } = event.data;
  return requested(event.data, { approvalId: approvalIdOf(callId, round), tenant: event.tenant, runId: key }, now);
}

function stop(input: EventInput<'run.stop-started'>, state: RunApprovals, { now }: LaneBatch, writes: WriteSet): void {
  writes.insertOnce(STOPPED_RUN, { run_id: input.key, stopped_at: now });
  const next = pending(state).map((approval) => ({
    approval: withdraw(approval, `the run is stopping: ${input.event.data.reason}`, now),
  }));
  write(input, state, { next, stopped: true, at: now }, writes);
}

/** The HTTP caller gets the fact: the approval as it is now, or why the answer does not count. */
function decide(input: CommandInput<DecidePayload>, state: RunApprovals, { now }: LaneBatch, writes: WriteSet): void {
  const { approvalId, decision } = input.payload;
  const approval = state.byId.get(approvalId);
  if (approval === undefined || input.by === null || approval.tenant !== input.by.tenant)
    return writes.answer({
      ok: false,
      failure: toFailure(new NotFoundError(`approval \`${approvalId}\` does not exist`)),
    });
  const outcome = decideApproval(approval, decision, input.by, now);
  if (outcome.kind === 'same') return writes.answer({ ok: true, value: approvalView(approval) });
  const { failure } = outcome;
  if (failure !== undefined) {
    const { code, message } = failure;
    writes.insertOnce(APPROVAL_ATTEMPT, {
      attempt_id: input.id,
      approval_id: approvalId,
      tenant: approval.tenant,
      by: input.by.subject,
      code,
      message,
      at: now,
    });
  }
  if (outcome.kind === 'closed')
    write(input, state, { next: [{ approval: outcome.approval }], stopped: state.stopped, at: now }, writes);
  writes.answer(
    failure === undefined
      ? { ok: true, value: approvalView((outcome as { approval: Approval }).approval) }
      : { ok: false, failure },
  );
}

function write(
  input: LaneInput,
  state: RunApprovals,
  changed: { next: readonly Change[]; stopped: boolean; at: Date },
  writes: WriteSet,
): void {
  const byId = new Map(state.byId);
  for (const { approval } of changed.next) byId.set(approval.approvalId, approval);
  for (const change of changed.next) writeChange(change, writes);
  const after: RunApprovals = { stopped: changed.stopped, byId };
  const expiries = pending(after).map(({ expiresAt }) => expiresAt.getTime());
  if (expiries.length > 0) writes.setTimer({ key: input.key, name: EXPIRY, dueAt: new Date(Math.min(...expiries)) });
  else if (pending(state).length > 0 && input.kind !== 'timer') writes.clearTimer(input.key, EXPIRY);
  writes.setState(RUN_APPROVALS, input.key, after);
}

const pending = (state: RunApprovals): Approval[] =>
  [...state.byId.values()].filter(({ status }) => status === 'pending');

const isDue = (now: Date) => (approval: Approval) => now >= approval.expiresAt;

const isEvent = <N extends EventName>(input: LaneInput, name: N): input is EventInput<N> =>
  input.kind === 'event' && input.name === name;
