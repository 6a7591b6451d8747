import { z } from 'zod';

const count = z.int().nonnegative();

/** Limits of a run. Money in micro-units (1/1,000,000 of the account's currency), times in milliseconds, tokens as billed. */
export const budgetsSchema = z.strictObject({
  steps: count,
  tokens: count,
  costMicros: count,
  toolCalls: count,
  activeMs: count,
  wallMs: count,
});

export type Budgets = z.infer<typeof budgetsSchema>;
export type BudgetKind = keyof Budgets;

/** One line of the ledger. INVARIANT: spent + reserved never exceeds limit (I5). */
export const budgetLineSchema = z.strictObject({ limit: count, spent: count, reserved: count });

export const budgetStateSchema = z.strictObject({
  steps: budgetLineSchema,
  tokens: budgetLineSchema,
  costMicros: budgetLineSchema,
  toolCalls: budgetLineSchema,
  activeMs: budgetLineSchema,
  wallMs: budgetLineSchema,
});

export type BudgetState = z.infer<typeof budgetStateSchema>;

/** Normal form of token usage, all counts ≥ 0 and disjoint (`reasoning` is a part of `output`). */
export const usageSchema = z.strictObject({
  uncached: count,
  cacheRead: count,
  cacheWrite: count,
  output: count,
  reasoning: count,
  estimated: z.boolean(),
});

export type Usage = z.infer<typeof usageSchema>;

/** Price in micro-units per million tokens; recorded in `run.started` so that replay computes the same cost. */
export const priceSchema = z.strictObject({ input: count, cacheRead: count, cacheWrite: count, output: count });

export type Price = z.infer<typeof priceSchema>;
