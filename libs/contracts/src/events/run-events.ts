import { z } from 'zod';
import { agentDefinitionSchema } from '../agent.js';
import { budgetStateSchema, budgetsSchema, priceSchema, usageSchema } from '../budget.js';
import { labelSchema } from '../label.js';
import { modelReplySchema } from '../model.js';
import { principalSchema } from '../principal.js';
import { handleSchema } from '../tool.js';
import { argumentsSchema, callRefShape, inputsShape } from './common.js';

/** The four terminal states. CAUTION: wire values, and what upstream systems branch on. */
export const TERMINAL_STATES = ['answered', 'budget_stop', 'failed', 'cancelled'] as const;
export type TerminalState = (typeof TERMINAL_STATES)[number];

/** Command on `tasks`: what an upstream system asks for. */
export const taskSubmit = z.strictObject({
  agent: z.string().min(1),
  input: z.record(z.string(), z.unknown()),
  conversationId: z.string().optional(),
  taskType: z.string().optional(),
  tags: z.array(z.string()).optional(),
});

export const taskRefused = z.object({
  taskId: z.string(),
  taskSource: z.string(),
  /** stable code, see docs/reference/errors.md */
  reason: z.string(),
  where: z.string(),
  seen: z.string(),
  expected: z.string(),
  next: z.string(),
  payloadHash: z.string(),
});

export const runStarted = z.object({
  ...inputsShape,
  taskId: z.string(),
  taskSource: z.string(),
  /** SHA-256 of the task's raw data bytes: the same id with another hash is refused */
  payloadHash: z.string(),
  /** the whole definition, so that replay needs nothing but events; `agent`@`version` name it */
  definition: agentDefinitionSchema,
  principal: principalSchema,
  /** null: the model has no price, refused where a money budget is set */
  price: priceSchema.nullable(),
  recall: z.object({ k: z.int().nonnegative(), query: z.string() }),
  budgets: budgetsSchema,
  input: z.record(z.string(), z.unknown()).optional(),
  inputHandle: handleSchema.optional(),
  label: labelSchema,
  conversationId: z.string().optional(),
  taskType: z.string().optional(),
  tags: z.array(z.string()).optional(),
});

export const modelCallCompleted = z.object({
  ...inputsShape,
  step: z.int().positive(),
  attempt: z.int().positive(),
  status: z.enum(['succeeded', 'malformed', 'failed', 'lost']),
  reply: modelReplySchema.optional(),
  reason: z.string().optional(),
  usage: usageSchema,
  costMicros: z.int().nonnegative(),
});

export const contextCleared = z.object({
  ...inputsShape,
  turns: z.array(z.int().positive()),
  tokensBefore: z.int().nonnegative(),
  tokensAfter: z.int().nonnegative(),
});

export const toolCallProposed = z.object({
  ...inputsShape,
  ...callRefShape,
  tool: z.string(),
  definitionHash: z.string(),
  arguments: argumentsSchema,
  digest: z.string(),
  principal: principalSchema,
  agent: z.object({ name: z.string(), version: z.int() }),
  label: labelSchema,
  budget: budgetStateSchema,
  /** the grant that a later round may reuse until its end */
  approvalId: z.string().optional(),
});

export const toolCallRefused = z.object({
  ...inputsShape,
  ...callRefShape,
  tool: z.string(),
  reason: z.enum(['invalid', 'unknown-tool', 'repeated', 'budget', 'run-stopped']),
  message: z.string(),
});

export const runStopStarted = z.object({
  ...inputsShape,
  /** counts the repetitions of the stop, from 1 */
  n: z.int().positive(),
  target: z.enum(TERMINAL_STATES),
  reason: z.string(),
  by: z.string(),
});

export const runFinished = z.object({
  ...inputsShape,
  state: z.enum(TERMINAL_STATES),
  reason: z.string(),
  answer: z.string().optional(),
  findings: z.string().optional(),
  totals: z.object({
    steps: z.int().nonnegative(),
    turns: z.int().nonnegative(),
    usage: usageSchema,
    costMicros: z.int().nonnegative(),
    toolCalls: z.int().nonnegative(),
    approvals: z.int().nonnegative(),
    effects: z.int().nonnegative(),
    unknown: z.int().nonnegative(),
    wallMs: z.int().nonnegative(),
    activeMs: z.int().nonnegative(),
  }),
});
