/**
 * Names of attributes and metrics in traces. The GenAI and MCP conventions are in development and have broken before; they follow the last
 * version in the main repository of OpenTelemetry, which most tools know. This is the only place that knows their names.
 */
export const SEMCONV_VERSION = '1.41.0';
export const SCHEMA_URL = `https://opentelemetry.io/schemas/${SEMCONV_VERSION}`;

export const GenAi = {
  operationName: 'gen_ai.operation.name',
  providerName: 'gen_ai.provider.name',
  agentName: 'gen_ai.agent.name',
  agentVersion: 'gen_ai.agent.version',
  conversationId: 'gen_ai.conversation.id',
  requestModel: 'gen_ai.request.model',
  requestMaxTokens: 'gen_ai.request.max_tokens',
  responseId: 'gen_ai.response.id',
  responseModel: 'gen_ai.response.model',
  responseFinishReasons: 'gen_ai.response.finish_reasons',
  inputTokens: 'gen_ai.usage.input_tokens',
  outputTokens: 'gen_ai.usage.output_tokens',
  cacheReadTokens: 'gen_ai.usage.cache_read.input_tokens',
  cacheWriteTokens: 'gen_ai.usage.cache_creation.input_tokens',
  reasoningTokens: 'gen_ai.usage.reasoning.output_tokens',
  tokenType: 'gen_ai.token.type',
  toolName: 'gen_ai.tool.name',
  toolType: 'gen_ai.tool.type',
  toolCallId: 'gen_ai.tool.call.id',
} as const;

export const Mcp = {
  methodName: 'mcp.method.name',
  protocolVersion: 'mcp.protocol.version',
  sessionId: 'mcp.session.id',
  requestId: 'jsonrpc.request.id',
  networkTransport: 'network.transport',
} as const;

export const Messaging = {
  system: 'messaging.system',
  operationName: 'messaging.operation.name',
  operationType: 'messaging.operation.type',
  destinationName: 'messaging.destination.name',
  partitionId: 'messaging.destination.partition.id',
  consumerGroup: 'messaging.consumer.group.name',
  messageId: 'messaging.message.id',
  conversationId: 'messaging.message.conversation_id',
  batchCount: 'messaging.batch.message_count',
  kafkaKey: 'messaging.kafka.message.key',
  kafkaOffset: 'messaging.kafka.offset',
} as const;

/** Ours: no convention covers policy checks, approvals and budgets. */
export const Lineclear = {
  runId: 'lineclear.run.id',
  tenant: 'lineclear.tenant',
  turn: 'lineclear.turn',
  step: 'lineclear.step',
  attempt: 'lineclear.attempt',
  callId: 'lineclear.call.id',
  policyVerdict: 'lineclear.policy.verdict',
  policyRules: 'lineclear.policy.rules',
  policyVersion: 'lineclear.policy.version',
  approvalId: 'lineclear.approval.id',
  approvalOutcome: 'lineclear.approval.outcome',
  effectStatus: 'lineclear.effect.status',
} as const;

export const ERROR_TYPE = 'error.type';

const SECONDS = [0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92];
const MCP_SECONDS = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300];
const MESSAGING_SECONDS = [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10];
const TOKENS = Array.from({ length: 14 }, (_, power) => 4 ** power);

/** Histograms whose buckets the conventions fix, in the unit of the metric. Others get the defaults of the SDK. */
export const HISTOGRAM_BUCKETS: Readonly<Record<string, readonly number[]>> = {
  'gen_ai.client.token.usage': TOKENS,
  'gen_ai.client.operation.duration': SECONDS,
  'mcp.client.operation.duration': MCP_SECONDS,
  'mcp.server.operation.duration': MCP_SECONDS,
  'messaging.client.operation.duration': MESSAGING_SECONDS,
  'messaging.process.duration': MESSAGING_SECONDS,
};
