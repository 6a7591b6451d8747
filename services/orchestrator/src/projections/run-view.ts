import { budgetStateSchema, EVENTS } from '@lineclear/contracts';
import { pageSchema } from '@lineclear/host';
import { isTerminal, type RunState, runViewOf } from '@lineclear/run';
import { z } from 'zod';

/** One line of a list of runs. */
export const runSummarySchema = z.object({
  runId: z.string(),
  taskId: z.string(),
  agent: z.string(),
  state: z.string(),
  reason: z.string().nullable(),
  /** a message of the run was set aside and waits for an operator */
  parked: z.boolean(),
  turn: z.int(),
  startedAt: z.iso.datetime(),
  finishedAt: z.iso.datetime().nullable(),
});

export const runPageSchema = pageSchema(runSummarySchema);

/** A whole run, with the calls of its present turn. */
export const runViewSchema = runSummarySchema.extend({
  calls: z.array(
    z.object({
      callId: z.string(),
      tool: z.string(),
      arguments: z.unknown(),
      verdict: z.string().nullable(),
      rules: z.array(z.string()),
      status: z.string(),
    }),
  ),
  budget: budgetStateSchema,
  /** so far, or at the end */
  totals: EVENTS['run.finished'].schema.shape.totals,
  answer: z.string().optional(),
  findings: z.string().optional(),
});

export type RunSummary = z.infer<typeof runSummarySchema>;
export type RunView = z.infer<typeof runViewSchema>;

/** The whole run as of `atMs`, beside what its summary row says; the row may have been read a moment before the state. */
export function runViewAt(summary: RunSummary, state: RunState, atMs: number): RunView {
  const { budget, calls, reason, state: status, turn } = runViewOf(state, atMs);
  const { answer, findings } = state.finished ?? {};
  return {
    ...summary,
    state: status,
    reason: reason ?? null,
    turn,
    finishedAt: isTerminal(state.stage) ? (summary.finishedAt ?? new Date(state.nowMs).toISOString()) : null,
    calls: calls.map((call) => ({ ...call, verdict: call.verdict ?? null, rules: [...call.rules] })),
    budget,
    totals: {
      ...state.totals,
      steps: budget.steps.spent,
      toolCalls: budget.toolCalls.spent,
      wallMs: budget.wallMs.spent,
      activeMs: budget.activeMs.spent,
    },
    ...(answer === undefined ? {} : { answer }),
    ...(findings === undefined ? {} : { findings }),
  };
}
