import { z } from 'zod';

/** JSON Schema 2020-12 document, local references only. */
export const jsonSchemaSchema = z.record(z.string(), z.unknown());

/** Why a tool can or cannot be called now. CAUTION: wire values. */
export const TOOL_STATUSES = ['available', 'unavailable', 'quarantined', 'disabled'] as const;

/** What is known of a tool's risk and of how its calls may be repeated. */
export const toolTraitsSchema = z.object({
  /** changes something outside */
  write: z.boolean(),
  /** the same call may be proposed again without a write in between (polling) */
  repeatable: z.boolean(),
  /** what it does is seen outside the own systems (mail, payment, web) */
  leavesSystem: z.boolean(),
  /** the tool answers the same idempotency key with its first result */
  key: z.enum(['honoured', 'none']),
  /** argument names that together name one business object; at most one effect for it, across runs */
  businessKey: z.array(z.string()).optional(),
  timeoutMs: z.int().positive(),
  /** how long an unknown outcome is waited for before the model is told; 0 = not at all */
  unknownWaitMs: z.int().nonnegative(),
});

export type ToolTraits = z.infer<typeof toolTraitsSchema>;

/** A tool as one run sees it. Identity is (server, original name, definition hash); the model sees the alias only. */
export const toolViewSchema = z.object({
  /** canonical `server.tool`: the name in policies, approvals and audit */
  name: z.string(),
  /** unique, at most 64 characters of [A-Za-z0-9_-] */
  alias: z.string(),
  definitionHash: z.string(),
  description: z.string(),
  /** input schema without arguments that the registry fills itself */
  schema: jsonSchemaSchema,
  traits: toolTraitsSchema,
  status: z.enum(TOOL_STATUSES),
  reason: z.string().optional(),
});

export type ToolView = z.infer<typeof toolViewSchema>;

/** Claim check: the payload lives in the owner's store, the event carries this. */
export const handleSchema = z.object({
  id: z.string(),
  bytes: z.int().nonnegative(),
  sha256: z.string(),
  mediaType: z.string(),
  preview: z.string(),
});

export type Handle = z.infer<typeof handleSchema>;

/** What a tool answered: text for the model, the structured value when there is one, a handle when it was too large. */
export const toolResultSchema = z.object({
  text: z.string(),
  structured: z.unknown().optional(),
  handle: handleSchema.optional(),
});

export type ToolResult = z.infer<typeof toolResultSchema>;
