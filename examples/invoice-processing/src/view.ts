import { table } from '@lineclear/cli';
import type { Snapshot } from './batch-run.js';
import type { Proof } from './proofs.js';
import type { RunLine } from './report.js';

export interface Summary {
  readonly kind: 'summary';
  readonly batch: string;
  readonly runs: number;
  readonly ok: number;
  readonly failed: number;
  readonly effects: number;
  readonly effectsWithoutDecision: number;
  readonly url: string;
  readonly durationMs: number;
}

/** How a start is shown. */
export interface View {
  say(text: string): void;
  update(snapshot: Snapshot): void;
  /** The batch is done. */
  report(lines: readonly RunLine[], proofs: readonly Proof[], summary: Summary): void;
  close(): void;
}

type Write = (text: string) => void;

/** One JSON value per line on stdout, messages on stderr. */
export function jsonView(stdout: Write, stderr: Write): View {
  return {
    say: (text) => stderr(`${text}\n`),
    update: () => undefined,
    report: (lines, proofs, summary) => {
      for (const { holds, claim, seen, command } of proofs)
        if (holds === false) stderr(`not proved: ${claim}; ${seen}; see \`${command}\`\n`);
      for (const value of [...lines, summary]) stdout(`${JSON.stringify(value)}\n`);
    },
    close: () => undefined,
  };
}

/** A plain log: a line whenever a run changes, for pipes, CI and NO_COLOR. */
export function logView(stdout: Write): View {
  const shown = new Map<string, string>();
  return {
    say: (text) => stdout(`${text}\n`),
    update: ({ tasks }) => {
      for (const row of tasks.map(rowOf)) {
        const text = `${row.file}: ${row.state}${row.call === '-' ? '' : `, ${row.call} ${row.verdict}`}`;
        if (shown.get(row.file) !== text) stdout(`${text}\n`);
        shown.set(row.file, text);
      }
    },
    report: (lines, proofs, summary) => stdout(reportText(lines, proofs, summary)),
    close: () => undefined,
  };
}

/** One run as a row: its state, the call it is at, that call's verdict with its rule, and what is left of the budget. */
export function rowOf(task: Snapshot['tasks'][number]) {
  const call = task.run?.calls.at(-1);
  const budget = task.run?.budget;
  return {
    file: task.file,
    state: task.refusal === null ? (task.run?.state ?? 'sent') : `refused (${task.refusal.code})`,
    call: call?.tool ?? '-',
    verdict: call === undefined ? '-' : [call.verdict ?? 'open', ...call.rules].join(' '),
    steps: budget === undefined ? '-' : `${budget.steps.spent}/${budget.steps.limit}`,
    cost: budget === undefined ? '-' : `${budget.costMicros.spent}/${budget.costMicros.limit}`,
  };
}

export function reportText(lines: readonly RunLine[], proofs: readonly Proof[], summary: Summary): string {
  const runs = lines.map((line) => ({ ...line, run: line.taskId, ok: line.ok ? 'ok' : 'NOT OK' }));
  const claims = proofs.map((proof) => ({ ...proof, holds: answerOf(proof) }));
  return [
    '',
    ...table(runs, ['run', 'outcome', 'reason', 'ok', 'steps', 'costMicros', 'toolCalls', 'approvals', 'effects']),
    '',
    ...table(claims, ['claim', 'holds', 'seen', 'command']),
    '',
    `batch ${summary.batch}: ${summary.ok} of ${summary.runs} as expected, ${summary.effects} effects, ${(summary.durationMs / 1000).toFixed(1)} s, ${summary.url}`,
    '',
  ].join('\n');
}

function answerOf({ holds }: Proof): string {
  if (holds === undefined) return '-';
  return holds ? 'yes' : 'NO';
}
