import { type EventData, idempotencyKeyOf, runIdOfCall } from '@lineclear/contracts';
import { compileArguments } from '@lineclear/run';
import type { DroppedInput, EventInput } from '@lineclear/messaging';
import type { Catalogue } from '../adapters/postgres/catalogue-reader.js';
import type { StoredEffect } from '../adapters/postgres/run-effects-store.js';
import {
  type AuthorizationStep,
  type BusinessClaim,
  decideAuthorization,
  storedCompletion,
} from '../domain/authorize.js';
import { DISPATCH_BY_MS, type Effect, notDispatched, type Permit } from '../domain/effect.js';
import type { Tool } from '../domain/tool.js';
import type { ClaimsVerdict } from '../domain/verify-claims.js';
import { TOOL_CALL_JOB, type ToolCallJob } from './run-commands.js';
import { type CallRef, refOf, type RunWriter } from './run-writer.js';

/** What a batch read for its authorizations. */
export interface AuthorizationContext {
  readonly catalogue: Catalogue;
  /** entries of calls that the run no longer has in mind */
  readonly older: ReadonlyMap<string, StoredEffect>;
  readonly claimOf: (permit: Permit) => BusinessClaim | undefined;
}

type Authorized = EventInput<'tool-call.authorized'>;

/** Executes on nothing but a verified permit: every other way out of here leaves the tool alone. */
export function takeAuthorization(
  run: RunWriter,
  input: Authorized,
  verdict: ClaimsVerdict,
  context: AuthorizationContext,
): void {
  const { data } = input.event;
  const existing = run.run.calls.get(data.callId) ?? context.older.get(data.callId)?.effect;
  if (!verdict.valid) return refuseForged(run, input, existing, verdict.why);
  const { permit } = verdict;
  const tool = context.catalogue.tools.get(permit.tool);
  const step = decideAuthorization(permit, {
    nowMs: run.now.getTime(),
    isStopped: run.run.stop > 0,
    notBeforeVersion: context.catalogue.notBeforeVersion,
    tool,
    existing,
    claim: context.claimOf(permit),
    argumentProblems: tool === undefined ? [] : problemsIn(tool, data.arguments),
  });
  apply(run, input, permit, { step, tool, isNew: existing === undefined, stored: context.older.get(data.callId) });
}

function problemsIn(tool: Tool, args: Readonly<Record<string, unknown>>): readonly string[] {
  const compiled = compileArguments(tool.pinned?.definition.inputSchema ?? {});
  return compiled.usable ? compiled.check(args).map(({ text }) => text) : [compiled.reason];
}

interface Decided {
  readonly step: AuthorizationStep;
  readonly tool: Tool | undefined;
  readonly isNew: boolean;
  readonly stored: StoredEffect | undefined;
}

function apply(run: RunWriter, input: Authorized, permit: Permit, { step, tool, isNew, stored }: Decided): void {
  const call = { ...refOf(permit), tool: permit.tool };
  switch (step.kind) {
    case 'same':
      return;
    case 'mismatch':
      run.refused(input.event.id, call, 'payload-mismatch', 'its key is bound to a call with other arguments');
      if (step.isNewRound)
        run.completed(
          call,
          { status: 'not-dispatched', reason: 'payload-mismatch', isRetryable: false },
          { jti: permit.jti },
        );
      return;
    case 'stored':
      return run.completed(call, storedCompletion(step.existing, stored?.result), {
        jti: permit.jti,
        isDeduplicated: true,
      });
    case 'close':
      run.effect(step.effect, { isNew, result: step.completion.result });
      return run.completed(call, step.completion, step.effect);
    case 'start':
      run.effect(step.effect, { isNew });
      run.claim(step.effect, { isNew: true });
      return start(run, step.effect, input.event.data, tool);
  }
}

function start(run: RunWriter, effect: Effect, data: EventData<'tool-call.authorized'>, tool: Tool | undefined): void {
  if (tool === undefined) return;
  const payload: ToolCallJob = {
    callId: effect.callId,
    runId: run.runId,
    tenant: run.tenant,
    tool: tool.name,
    server: tool.server,
    originalName: tool.originalName,
    definitionHash: effect.definitionHash,
    arguments: data.arguments,
    keyArgument: tool.keyArgument,
    key: idempotencyKeyOf(effect.callId),
    authorizationId: effect.jti,
    toolTimeoutMs: tool.traits.timeoutMs,
  };
  startAttempt(run, effect, payload);
}

/** One job row per call; a repetition is its next attempt. */
export function startAttempt(run: RunWriter, effect: Effect, payload: ToolCallJob): void {
  const isLast = effect.attempt > 1 || !effect.isRepeatable;
  run.writes.startJob({
    id: payload.key,
    kind: TOOL_CALL_JOB,
    key: run.runId,
    tenant: run.tenant,
    attempt: effect.attempt,
    payload,
    dispatchByMs: DISPATCH_BY_MS,
    timeoutMs: effect.timeoutMs,
    lost: isLast ? 'quiet' : 'at-once',
  });
}

/** A forged or altered permit is recorded, and answered where nobody answered the round before. */
function refuseForged(run: RunWriter, input: Authorized, existing: Effect | undefined, why: string): void {
  const { data, id } = input.event;
  const call = { ...refOf(data), tool: data.tool };
  run.refused(id, call, 'invalid-authorization', why);
  const isOfRun = runIdOfCall(data.callId) === run.runId;
  if (existing !== undefined || !isOfRun) return;
  closeUnmade(run, data, 'invalid-authorization');
}

/** An operator dropped the message: the call ends here, unless its round was answered or it is being made. */
export function takeDropped(
  run: RunWriter,
  input: DroppedInput<'tool-call.authorized'>,
  older: AuthorizationContext['older'],
): void {
  const { data } = input.event;
  const existing = run.run.calls.get(data.callId) ?? older.get(data.callId)?.effect;
  if (existing !== undefined && (existing.state !== 'not-dispatched' || data.round <= existing.round)) return;
  closeUnmade(run, data, 'dropped', existing === undefined);
}

function closeUnmade(run: RunWriter, data: EventData<'tool-call.authorized'>, reason: string, isNew = true): void {
  const call: CallRef = refOf(data);
  const permit: Permit = {
    ...call,
    tenant: run.tenant,
    tool: data.tool,
    definitionHash: data.definitionHash,
    digest: '',
    payloadHash: '',
    businessKey: null,
    jti: '',
    policyVersion: 0,
    expiresAtMs: 0,
    isGranted: false,
  };
  run.effect(notDispatched(permit, reason, run.now.getTime()), { isNew });
  run.completed({ ...call, tool: data.tool }, { status: 'not-dispatched', reason, isRetryable: false });
}
