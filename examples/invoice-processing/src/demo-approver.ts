import { readFile } from 'node:fs/promises';
import type { ApprovalDecision, ApprovalView } from '@lineclear/client';
import { parseConfigFile } from '@lineclear/config-file';
import { z } from 'zod';
import type { Approver } from './approver.js';

const answerSchema = z.strictObject({
  number: z.string().optional(),
  supplier: z.string().optional(),
  tool: z.string().optional(),
  action: z.enum(['approve', 'edit', 'deny']),
  arguments: z.record(z.string(), z.unknown()).optional(),
  reason: z.string(),
});

const fileSchema = z.strictObject({ answers: z.array(answerSchema) });

type Answer = z.infer<typeof answerSchema>;

/** The stand-in of `--approver demo`: answers by the rules of a file, and denies what no rule names. */
export async function demoApprover(file: string): Promise<Approver> {
  const { answers } = parseConfigFile(await readFile(file, 'utf8'), { file, schema: fileSchema });
  return {
    answers: (pending) =>
      Promise.resolve(new Map(pending.map((approval) => [approval.approvalId, answerTo(approval, answers)]))),
    close: () => undefined,
  };
}

export function answerTo(approval: ApprovalView, answers: readonly Answer[]): ApprovalDecision {
  const answer = answers.find(
    ({ number, supplier, tool }) =>
      (number === undefined || number === approval.arguments['number']) &&
      (supplier === undefined || supplier === approval.arguments['supplier']) &&
      (tool === undefined || tool === approval.tool),
  );
  if (answer === undefined) return { action: 'deny', reason: 'nobody asked for this' };
  const { action, reason } = answer;
  return action === 'edit'
    ? { action, reason, arguments: { ...approval.arguments, ...answer.arguments } }
    : { action, reason };
}
