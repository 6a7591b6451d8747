import { CancelledError, NotFoundError } from '@lineclear/errors';
import type { RunningJob } from '@lineclear/messaging';
import type { ModelGateway, ModelOutcome, ModelRequest } from '@lineclear/model-gateway';
import { modelRequestOf } from '@lineclear/run';
import type { ModelCallPayload } from './names.js';
import { isOpen, type ModelCallSource, type OpenModelCalls } from './open-model-calls.js';

export interface ModelCallContext {
  readonly gateway: ModelGateway;
  readonly open: OpenModelCalls;
  /** Reads a run as it is stored now. */
  readonly load: (runId: string) => Promise<ModelCallSource | undefined>;
}

/** One attempt of a model call: the request is built from the run's state, never from the job's row. Throws when the run no longer asks for it. */
export async function runModelCall(
  job: RunningJob<ModelCallPayload>,
  signal: AbortSignal,
  { gateway, open, load }: ModelCallContext,
): Promise<ModelOutcome> {
  const { runId, step, attempt } = job.payload;
  const source = open.take(runId, step, attempt) ?? (await load(runId));
  if (!source) throw new NotFoundError(`run \`${runId}\` does not exist`);
  if (!isOpen(source.state, step, attempt))
    throw new CancelledError(`run \`${runId}\` no longer asks for this model call`);
  const request = requestOf(source, job);
  job.assertMayDispatch();
  return gateway.call(request, signal);
}

function requestOf({ state, input }: ModelCallSource, { tenant, payload }: RunningJob<ModelCallPayload>): ModelRequest {
  const request = modelRequestOf(state);
  if (!request) throw new CancelledError(`run \`${state.runId}\` has no open model call`);
  const { model, system, messages, tools, maxOutputTokens } = request;
  return {
    route: model,
    system,
    messages,
    tools,
    maxOutputTokens,
    task: input,
    turn: state.totals.turns + 1,
    step: payload.step,
    attempt: payload.attempt,
    tenant,
    runId: state.runId,
    agent: state.definition.agent,
  };
}
