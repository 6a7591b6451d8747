import { z } from 'zod';

/** One tool call as the model wrote it. `argumentsText` is the raw JSON text: it is checked before it is parsed. */
export const modelCallSchema = z.object({
  /** the provider's id, for the pairing in its own format only; never an identity here */
  id: z.string(),
  /** alias or name the model used */
  tool: z.string(),
  argumentsText: z.string(),
});

export type ModelCall = z.infer<typeof modelCallSchema>;

/** CAUTION: wire values. `length` replies are never executed. */
export const STOP_REASONS = ['end', 'calls', 'length', 'refusal', 'other'] as const;

export const modelReplySchema = z.object({
  text: z.string(),
  calls: z.array(modelCallSchema),
  stopReason: z.enum(STOP_REASONS),
});

export type ModelReply = z.infer<typeof modelReplySchema>;
