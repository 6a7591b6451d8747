import { evolve, type Fact, fromSnapshot, type RunState, toSnapshot } from '@lineclear/run';

type TaskInput = Readonly<Record<string, unknown>>;

/** A run as the lane caches it: the state, and what storing it needs to know. */
export interface StoredRun {
  readonly state: RunState;
  /** the task's input, for the model's requests */
  readonly input: TaskInput;
  /** version of the stored snapshot, 0 = none */
  readonly snapshotVersion: number;
  /** what the summary row says; undefined before it is written */
  readonly summary: { readonly state: string; readonly turn: number; readonly quietUntilMs: number } | undefined;
}

/** A row of the run's stream or its snapshot, as read. */
export interface StoredRow {
  readonly run_id: string;
  readonly version: number;
  readonly body: string;
  readonly is_snapshot: boolean;
}

/** No snapshot before this version: short runs are folded faster than a snapshot is written. */
const FIRST_SNAPSHOT_VERSION = 200;

const GROWTH = 1.5;

/**
 * Geometric: all snapshots of a run together stay within a constant times its size, so the bytes per step stay flat, and at most a third of the facts
 * is folded when a run is loaded.
 */
export function needsSnapshot(run: StoredRun): boolean {
  return run.state.version >= Math.max(FIRST_SNAPSHOT_VERSION, GROWTH * run.snapshotVersion);
}

/** Text of the snapshot of a state. */
export function snapshotText({ state, input }: Pick<StoredRun, 'state' | 'input'>): string {
  return JSON.stringify({ input, state: toSnapshot(state) });
}

/** Folds rows into runs. `rows`: per run its snapshot, if any, then the rows after it in the order of their versions. */
export function foldRows(rows: readonly StoredRow[]): Map<string, StoredRun> {
  const runs = new Map<string, StoredRun>();
  const byRun = Map.groupBy(rows, (row) => row.run_id);
  for (const [runId, own] of byRun) {
    const run = foldRun(own);
    if (run) runs.set(runId, run);
  }
  return runs;
}

function foldRun(rows: readonly StoredRow[]): StoredRun | undefined {
  let state: RunState | undefined;
  let input: TaskInput = {};
  let snapshotVersion = 0;
  for (const row of rows) {
    const body: unknown = JSON.parse(row.body);
    if (row.is_snapshot) {
      const snapshot = body as { input: TaskInput; state: Record<string, unknown> };
      state = fromSnapshot(snapshot.state);
      input = snapshot.input;
      snapshotVersion = row.version;
      continue;
    }
    for (const fact of body as Fact[]) {
      state = evolve(state, fact);
      input = inputOf(fact) ?? input;
    }
  }
  return state && { state, input, snapshotVersion, summary: undefined };
}

/** The task's input, which the run's first fact carries. */
export function inputOf(fact: Fact): TaskInput | undefined {
  return fact.kind === 'event' && fact.name === 'run.started' ? (fact.data.input ?? {}) : undefined;
}
