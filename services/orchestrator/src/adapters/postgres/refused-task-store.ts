import type { Failure } from '@lineclear/errors';
import type { ReadHandle, StateStore } from '@lineclear/messaging';

/** Refusals of one task id by payload hash. */
export type RefusedTask = ReadonlyMap<string, Failure>;

export const REFUSED_TASK_STORE: StateStore<RefusedTask> = {
  name: 'refused-task',
  async load(keys, read: ReadHandle) {
    const rows = await read.query<{ run_id: string; payload_hash: string; failure: string }>(
      'SELECT run_id, payload_hash, failure FROM refused_task WHERE run_id = ANY($1)',
      [keys],
    );
    const byRun = Map.groupBy(rows, (row) => row.run_id);
    return new Map(
      [...byRun].map(([runId, own]) => [
        runId,
        new Map(own.map((row) => [row.payload_hash, JSON.parse(row.failure) as Failure])),
      ]),
    );
  },
};
