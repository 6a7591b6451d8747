import { type Attributes, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import type { ModelOutcome, ModelRequest } from './model-gateway.js';

/** Runs one logical model call, retries included, in its GenAI span. No content is recorded. */
export async function withModelSpan(
  provider: string,
  model: string,
  request: ModelRequest,
  call: () => Promise<ModelOutcome>,
): Promise<ModelOutcome> {
  const attributes: Attributes = {
    'gen_ai.operation.name': 'chat',
    'gen_ai.provider.name': provider,
    'gen_ai.request.model': model,
    'gen_ai.agent.name': request.agent,
    'gen_ai.request.max_tokens': request.maxOutputTokens,
    'lineclear.run.id': request.runId,
    'lineclear.tenant': request.tenant,
    'lineclear.step': request.step,
    'lineclear.attempt': request.attempt,
  };
  if (request.conversationId !== undefined) attributes['gen_ai.conversation.id'] = request.conversationId;
  const tracer = trace.getTracer('lineclear');
  return tracer.startActiveSpan(`chat ${model}`, { kind: SpanKind.CLIENT, attributes }, async (span) => {
    try {
      const outcome = await call();
      span.setAttributes(outcomeAttributes(outcome));
      if (outcome.status !== 'succeeded') span.setStatus({ code: SpanStatusCode.ERROR });
      return outcome;
    } catch (error) {
      span.setAttribute('error.type', 'cancelled');
      throw error;
    } finally {
      span.end();
    }
  });
}

function outcomeAttributes(outcome: ModelOutcome): Attributes {
  if (outcome.status === 'failed') return { 'error.type': outcome.failure.code };
  const { usage } = outcome;
  return {
    'gen_ai.usage.input_tokens': usage.uncached + usage.cacheRead + usage.cacheWrite,
    'gen_ai.usage.output_tokens': usage.output,
    'gen_ai.usage.cache_read.input_tokens': usage.cacheRead,
    'gen_ai.usage.cache_creation.input_tokens': usage.cacheWrite,
    'gen_ai.usage.reasoning.output_tokens': usage.reasoning,
    ...(outcome.status === 'succeeded'
      ? { 'gen_ai.response.finish_reasons': [outcome.reply.stopReason] }
      : { 'error.type': 'malformed' }),
  };
}
