import type { RunState } from '@lineclear/run';
import type { StoredRun } from './stored-run.js';

/** What an executor needs of a run: states are never changed in place, so holding one is safe. */
export type ModelCallSource = Pick<StoredRun, 'input'> & { readonly state: RunState };

/**
 * States of runs whose model job was just decided, so that its executor need not read the run again. Only a shortcut: an entry may be missing (another
 * process decided) or stand for a batch that never committed, hence the check of step and attempt when it is taken.
 */
export class OpenModelCalls {
  private readonly byRun = new Map<string, ModelCallSource>();

  put(source: ModelCallSource): void {
    this.byRun.set(source.state.runId, source);
  }

  drop(runId: string): void {
    this.byRun.delete(runId);
  }

  take(runId: string, step: number, attempt: number): ModelCallSource | undefined {
    const source = this.byRun.get(runId);
    if (!source) return undefined;
    this.byRun.delete(runId);
    return isOpen(source.state, step, attempt) ? source : undefined;
  }
}

/** Whether this attempt is the run's open model call. */
export function isOpen({ modelCall }: RunState, step: number, attempt: number): boolean {
  return modelCall?.step === step && modelCall.attempt === attempt;
}
