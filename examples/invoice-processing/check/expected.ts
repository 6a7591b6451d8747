import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'yaml';
import { z } from 'zod';

const fileSchema = z.strictObject({
  outcome: z.string(),
  reason: z.string().optional(),
  effects: z.union([z.int(), z.array(z.int())]).optional(),
  approvals: z.int().optional(),
  tool: z.string().optional(),
});

const expectedSchema = z.strictObject({
  files: z.record(z.string(), fileSchema),
  postings: z.array(z.tuple([z.string(), z.string()])),
  notifications: z.array(z.string()),
});

export type Expected = z.infer<typeof expectedSchema>;
export type ExpectedFile = z.infer<typeof fileSchema>;

/** What came of one file of the inbox, as the public API tells it. */
export interface Outcome {
  /** terminal state of the run, `refused`, or the state it waits in */
  readonly outcome: string;
  /** why it was refused, when it was */
  readonly reason: string | null;
  readonly effects: number;
  readonly approvals: number;
  /** calls whose outcome a crash hid */
  readonly unknown: number;
}

export async function readExpected(exampleDir: string): Promise<Expected> {
  return expectedSchema.parse(parse(await readFile(join(exampleDir, 'check', 'expected.yaml'), 'utf8')));
}

/**
 * Whether a file came to what it should. An unknown call may hide one effect of the run's own count, never more; the ledger is
 * what counts then (see judgeLedger). A file that nobody expects anything of (dropped in later) is fine when its run ended.
 */
export function asExpected(expected: ExpectedFile | undefined, seen: Outcome): boolean {
  if (expected === undefined)
    return ['answered', 'budget_stop', 'failed', 'cancelled', 'refused'].includes(seen.outcome);
  const effects = expected.effects === undefined ? [0] : [expected.effects].flat();
  return (
    seen.outcome === expected.outcome &&
    (expected.reason === undefined || seen.reason === expected.reason) &&
    effects.some((count) => count === seen.effects || (seen.unknown > 0 && count === seen.effects + seen.unknown)) &&
    (expected.approvals === undefined || seen.approvals === expected.approvals)
  );
}
