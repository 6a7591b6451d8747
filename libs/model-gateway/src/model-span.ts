import { type Attributes, SpanKind, SpanStatusCode } from '@opentelemetry/api';
import { ERROR_TYPE, GenAi, inSpan, Lineclear, tracerOf } from '@lineclear/telemetry';
import type { ModelOutcome, ModelRequest } from './ports.js';

/** Runs one logical model call, retries included, in its GenAI span. No content is recorded. */
export async function withModelSpan(
  provider: string,
  model: string,
  request: ModelRequest,
  call: () => Promise<ModelOutcome>,
): Promise<ModelOutcome> {
  const attributes: Attributes = {
    [GenAi.operationName]: 'chat',
    [GenAi.providerName]: provider,
    [GenAi.requestModel]: model,
    [GenAi.agentName]: request.agent,
    [GenAi.requestMaxTokens]: request.maxOutputTokens,
    [Lineclear.runId]: request.runId,
    [Lineclear.tenant]: request.tenant,
    [Lineclear.step]: request.step,
    [Lineclear.attempt]: request.attempt,
  };
  if (request.conversationId !== undefined) attributes[GenAi.conversationId] = request.conversationId;
  return inSpan(tracerOf('model-gateway'), `chat ${model}`, { kind: SpanKind.CLIENT, attributes }, async (span) => {
    const outcome = await call();
    span.setAttributes(outcomeAttributes(outcome));
    if (outcome.status !== 'succeeded') span.setStatus({ code: SpanStatusCode.ERROR });
    return outcome;
  });
}

function outcomeAttributes(outcome: ModelOutcome): Attributes {
  if (outcome.status === 'failed') return { [ERROR_TYPE]: outcome.failure.code };
  const { uncached, cacheRead, cacheWrite, output, reasoning } = outcome.usage;
  return {
    [GenAi.inputTokens]: uncached + cacheRead + cacheWrite,
    [GenAi.outputTokens]: output,
    [GenAi.cacheReadTokens]: cacheRead,
    [GenAi.cacheWriteTokens]: cacheWrite,
    [GenAi.reasoningTokens]: reasoning,
    ...(outcome.status === 'succeeded'
      ? { [GenAi.responseFinishReasons]: [outcome.reply.stopReason] }
      : { [ERROR_TYPE]: 'malformed' }),
  };
}
