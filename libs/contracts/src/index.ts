export { type AgentDefinition, agentDefinitionSchema } from './agent.js';
export {
  AUTHORIZATION_AUDIENCE,
  AUTHORIZATION_ISSUER,
  AUTHORIZATION_TYPE,
  type AuthorizationClaims,
  authorizationClaimsSchema,
} from './authorization.js';
export {
  type BudgetKind,
  type Budgets,
  budgetsSchema,
  type BudgetState,
  budgetStateSchema,
  type Price,
  priceSchema,
  type Usage,
  usageSchema,
} from './budget.js';
export { canonicalJson, contentHash, sha256Hex } from './canonical.js';
export {
  type CloudEvent,
  type CloudEventAttributes,
  decodeCloudEvent,
  type DecodeOptions,
  type WireHeaders,
} from './cloud-event.js';
export {
  decodeHeaders,
  encodeHeaders,
  type Envelope,
  type EnvelopeAttributes,
  envelopeAttributesSchema,
  type Headers,
} from './envelope.js';
export { COMPLETION_STATUSES, type CompletionStatus } from './events/call-events.js';
export { type EventData, type EventName, eventNameOf, EVENTS, eventType, topicsReadBy } from './events/catalogue.js';
export { type RecordedInput, recordedInputSchema } from './events/common.js';
export { TERMINAL_STATES, type TerminalState } from './events/run-events.js';
export {
  approvalIdOf,
  authorizationIdOf,
  callDigest,
  type CallIdentity,
  callIdOf,
  decisionIdOf,
  derivedId,
  idempotencyKeyOf,
  runIdOf,
  runIdOfCall,
  SHARD_COUNT,
  shardOf,
  type Stage,
} from './ids.js';
export { eventJsonSchemas } from './json-schema.js';
export { CONFIDENTIALITY_LEVELS, INTEGRITY_LEVELS, type Label, labelSchema } from './label.js';
export type { AssistantMessage, CallOutcome, Message, ToolMessage, UserMessage } from './message.js';
export { type ModelCall, modelCallSchema, type ModelReply, modelReplySchema, STOP_REASONS } from './model.js';
export { type Principal, principalSchema } from './principal.js';
export {
  type Handle,
  handleSchema,
  TOOL_STATUSES,
  type ToolResult,
  toolResultSchema,
  type ToolTraits,
  toolTraitsSchema,
  type ToolView,
  toolViewSchema,
} from './tool.js';
export { SERVICES, type ServiceName, type Topic, topicName, topicOf, TOPIC_PRODUCER, TOPICS } from './topics.js';
