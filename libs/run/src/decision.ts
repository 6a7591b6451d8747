import type { Failure } from '@lineclear/errors';
import type { Fact } from './fact.js';
import type { RunTimer } from './input.js';
import type { RunState } from './state.js';

/** What the shell does besides storing the facts; every item is idempotent. */
export type PlanItem =
  | { readonly do: 'start-model-call'; readonly jobId: string; readonly step: number; readonly attempt: number }
  | { readonly do: 'abort-job'; readonly jobId: string }
  | { readonly do: 'set-timer'; readonly name: RunTimer; readonly dueAtMs: number }
  | { readonly do: 'clear-timer'; readonly name: RunTimer };

/** Answer to a command or to a task. Task: value `{runId, known: boolean}`. Cancel: value `{runId, state}`. */
export type CommandAnswer =
  | { readonly ok: true; readonly value: Readonly<Record<string, unknown>> }
  | { readonly ok: false; readonly failure: Failure };

/** An input that changed nothing, for log and metrics. `duplicate`: the same again. */
export interface Remark {
  readonly kind: 'duplicate' | 'late' | 'violation';
  readonly what: string;
}

export interface Decision {
  /** in order; store all of them with the state's next versions, publish those of kind `event` */
  readonly facts: readonly Fact[];
  /** the state after the facts; undefined only when no run exists */
  readonly state: RunState | undefined;
  readonly plan: readonly PlanItem[];
  readonly answer?: CommandAnswer;
  readonly remark?: Remark;
}
