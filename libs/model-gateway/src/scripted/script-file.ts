import { STOP_REASONS, priceSchema, usageSchema } from '@lineclear/contracts';
import { z } from 'zod';
import { expectationSchema } from './condition.js';

const FAILURE_CODES = ['unavailable', 'rate-limited', 'timed-out', 'overloaded', 'refused', 'invalid-request'] as const;

const callSchema = z.strictObject({
  /** canonical `server.tool`, or anything else that a model might make up */
  tool: z.string().min(1),
  arguments: z.record(z.string(), z.unknown()).optional(),
  /** raw text in place of `arguments`, so that a script can write what is not JSON */
  argumentsText: z.string().optional(),
});

const ruleSchema = z.strictObject({
  when: z.record(z.string(), expectationSchema).optional(),
  call: z.array(callSchema).min(1).optional(),
  say: z.string().optional(),
  malformed: z.string().min(1).optional(),
  fail: z
    .strictObject({ code: z.enum(FAILURE_CODES), message: z.string().min(1), retryable: z.boolean().default(false) })
    .optional(),
  stop: z.enum(STOP_REASONS).optional(),
  usage: usageSchema.omit({ estimated: true }).partial().optional(),
  delayMs: z.int().nonnegative().max(3_600_000).optional(),
});

/** models/<name>.yaml of the scripted provider. Unknown keys are errors. */
export const scriptFileSchema = z.strictObject({
  model: z.string().regex(/^scripted\/[a-z0-9][a-z0-9._-]*$/),
  /** default: free of charge; `none`: a model whose price is not known */
  price: z.union([z.literal('none'), priceSchema]).default({ input: 0, cacheRead: 0, cacheWrite: 0, output: 0 }),
  maxOutputTokens: z.int().positive().default(4096),
  script: z.array(ruleSchema).min(1),
});

export type ScriptFile = z.infer<typeof scriptFileSchema>;
export type ScriptRule = z.infer<typeof ruleSchema>;
export type ScriptCall = z.infer<typeof callSchema>;
