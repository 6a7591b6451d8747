import { z } from 'zod';
import { budgetsSchema } from './budget.js';

/** agents/<name>.yaml: a named, versioned definition. Unknown keys are errors. */
export const agentDefinitionSchema = z.strictObject({
  agent: z.string().regex(/^[a-z][a-z0-9-]{0,62}$/),
  version: z.int().positive(),
  prompt: z.string().min(1),
  /** `<provider>/<model>` */
  model: z.string().regex(/^[a-z0-9-]+\/.+$/),
  /** globs over `server.tool` */
  tools: z.array(z.string().min(1)),
  budget: budgetsSchema,
  context: z
    .strictObject({ clearAtTokens: z.int().positive(), keepResults: z.int().nonnegative() })
    .default({ clearAtTokens: 100_000, keepResults: 3 }),
  memory: z.strictObject({ recall: z.int().nonnegative().max(50) }).default({ recall: 0 }),
  /** upper bound of what one reply may cost in output tokens */
  maxOutputTokens: z.int().positive().default(1024),
  principal: z.strictObject({ roles: z.array(z.string().min(1)) }).default({ roles: [] }),
});

export type AgentDefinition = z.infer<typeof agentDefinitionSchema>;
