import { asExpected, type Expected, type ExpectedFile, type Outcome } from '../check/expected.js';
import { hasEnded } from './batch-run.js';
import type { TrackedTask } from './tasks.js';

/** A line of `npm start -- --json` for one task. CAUTION: public, see interface.md. */
export interface RunLine {
  readonly kind: 'run';
  readonly runId: string | null;
  readonly taskId: string;
  readonly outcome: string;
  readonly reason: string | null;
  readonly expected: string | null;
  readonly ok: boolean;
  readonly steps: number;
  readonly tokens: { readonly in: number; readonly out: number; readonly cached: number };
  readonly costMicros: number;
  readonly toolCalls: number;
  readonly approvals: number;
  readonly effects: number;
}

/**
 * What became of a task, held against what the checker expects of its file. A run that still waits is never ok. `asked`: a person answered the
 * approvals as they liked, so only how the run ended is judged.
 */
export function runLine(task: TrackedTask, expected: Expected, asked: boolean): RunLine {
  const outcome = outcomeOf(task);
  const wanted = expected.files[task.file];
  const totals = task.run?.totals;
  const { uncached = 0, cacheRead = 0, cacheWrite = 0, output = 0 } = totals?.usage ?? {};
  return {
    kind: 'run',
    runId: task.runId,
    taskId: task.taskId,
    outcome: outcome.outcome,
    reason: outcome.reason,
    expected: wanted?.outcome ?? null,
    ok: (task.refusal !== null || hasEnded(task)) && asExpected(asked ? endOf(wanted) : wanted, outcome),
    steps: totals?.steps ?? 0,
    tokens: { in: uncached + cacheRead + cacheWrite, out: output, cached: cacheRead },
    costMicros: totals?.costMicros ?? 0,
    toolCalls: totals?.toolCalls ?? 0,
    approvals: outcome.approvals,
    effects: outcome.effects,
  };
}

function endOf(wanted: ExpectedFile | undefined): ExpectedFile | undefined {
  return wanted && { outcome: wanted.outcome, effects: [0, 1] };
}

function outcomeOf({ run, refusal }: TrackedTask): Outcome {
  if (refusal !== null) return { outcome: 'refused', reason: refusal.code, effects: 0, approvals: 0, unknown: 0 };
  return {
    outcome: run?.state ?? 'submitted',
    reason: run?.reason ?? null,
    effects: run?.totals?.effects ?? 0,
    approvals: run?.totals?.approvals ?? 0,
    unknown: run?.totals?.unknown ?? 0,
  };
}
