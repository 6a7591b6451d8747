import { z } from 'zod';
import { labelSchema } from '../label.js';
import { jsonSchemaSchema, toolResultSchema, toolTraitsSchema, toolViewSchema, TOOL_STATUSES } from '../tool.js';
import { argumentsSchema, callRefShape } from './common.js';

export const toolsetResolved = z.object({ toolsetHash: z.string(), tools: z.array(toolViewSchema) });

export const memoryRecalled = z.object({
  facts: z.array(
    z.object({ id: z.string(), text: z.string(), source: z.string(), eventTime: z.iso.datetime(), label: labelSchema }),
  ),
});

export const toolCallDenied = z.object({
  ...callRefShape,
  decisionId: z.string(),
  tool: z.string(),
  /** determining rules, empty when none matched */
  rules: z.array(z.string()),
  reason: z.string(),
  terminal: z.boolean(),
  policyVersion: z.int().nonnegative(),
});

export const toolCallReferred = z.object({
  ...callRefShape,
  decisionId: z.string(),
  tool: z.string(),
  arguments: argumentsSchema,
  schema: jsonSchemaSchema,
  definitionHash: z.string(),
  digest: z.string(),
  rules: z.array(z.string()),
  why: z.string(),
  label: labelSchema,
  /** subject the run acts for */
  requester: z.string(),
  /** roles, one of which an approver must hold */
  approvers: z.array(z.string()),
  fourEyes: z.boolean(),
  expiresAt: z.iso.datetime(),
  /** how long a grant is usable after the click, in milliseconds */
  validForMs: z.int().positive(),
  policyVersion: z.int().nonnegative(),
});

export const toolCallAuthorized = z.object({
  ...callRefShape,
  decisionId: z.string(),
  /** compact JWS (EdDSA); its claims are repeated in `claims` for reading, the registry trusts the JWS alone */
  jws: z.string(),
  claims: z.object({
    jti: z.string(),
    tenant: z.string(),
    digest: z.string(),
    exp: z.int(),
    policyVersion: z.int().nonnegative(),
  }),
  tool: z.string(),
  arguments: argumentsSchema,
  definitionHash: z.string(),
  rules: z.array(z.string()),
  approvalId: z.string().optional(),
  edited: z.boolean(),
});

const approvalShape = { ...callRefShape, approvalId: z.string() };

export const approvalRequested = z.object({ ...approvalShape, digest: z.string(), expiresAt: z.iso.datetime() });

export const approvalGranted = z.object({
  ...approvalShape,
  by: z.string(),
  /** digest of the call as approved: of the edited arguments when there are any */
  digest: z.string(),
  arguments: argumentsSchema.optional(),
  validUntil: z.iso.datetime(),
  reason: z.string().optional(),
});

export const approvalClosed = z.object({ ...approvalShape, by: z.string().optional(), reason: z.string() });

/** CAUTION: wire values. `cancelled` is only a way to show a not-dispatched call of a stopped run, never a status. */
export const COMPLETION_STATUSES = ['succeeded', 'failed', 'unknown', 'not-dispatched'] as const;
export type CompletionStatus = (typeof COMPLETION_STATUSES)[number];

export const toolCallCompleted = z.object({
  ...callRefShape,
  tool: z.string(),
  status: z.enum(COMPLETION_STATUSES),
  /** stable word: authorization-expired, policy-outdated, run-stopped, tool-disabled, dropped, timeout, tool-error, ... */
  reason: z.string().optional(),
  result: toolResultSchema.optional(),
  label: labelSchema,
  jti: z.string().optional(),
  /** answered from the effect ledger: this call caused no effect of its own */
  deduplicated: z.boolean(),
  /** a failed call that may be proposed again unchanged */
  retryable: z.boolean(),
  startedAt: z.iso.datetime().optional(),
  endedAt: z.iso.datetime(),
});

export const toolCallResolved = z.object({
  ...callRefShape,
  outcome: z.enum(['happened', 'not-happened']),
  result: toolResultSchema.optional(),
  by: z.string(),
  reason: z.string(),
});

export const runFenced = z.object({
  n: z.int().positive(),
  /** calls with an intent and no completion */
  open: z.array(z.string()),
  settled: z.array(z.object({ callId: z.string(), status: z.enum(COMPLETION_STATUSES) })),
});

export const toolUpdated = z.object({
  server: z.string(),
  name: z.string(),
  definitionHash: z.string(),
  description: z.string(),
  schema: jsonSchemaSchema,
  traits: toolTraitsSchema,
  status: z.enum(TOOL_STATUSES),
  reason: z.string().optional(),
});

export const policySetActivated = z.object({
  set: z.string(),
  version: z.int().positive(),
  /** authorizations of older versions are refused */
  notBeforeVersion: z.int().nonnegative(),
  hash: z.string(),
});

export const auditRecorded = z.object({
  seq: z.int().positive(),
  prevHash: z.string(),
  hash: z.string(),
  subject: z.string(),
  fact: z.record(z.string(), z.unknown()),
});
