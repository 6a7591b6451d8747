import type { ReadHandle, StateStore } from '@lineclear/messaging';
import { foldRows, type StoredRow, type StoredRun } from '../../application/stored-run.js';

/**
 * Snapshot and tail of all runs in one query. The snapshot comes first; a tail row that is older than it is left out, so a snapshot written in
 * between does no harm.
 */
const LOAD = `
  WITH snapshot AS (SELECT run_id, version, state FROM run_snapshot WHERE run_id = ANY($1))
  SELECT run_id, version, state AS body, true AS is_snapshot FROM snapshot
  UNION ALL
  SELECT s.run_id, s.version, s.facts, false FROM run_stream s LEFT JOIN snapshot n USING (run_id)
  WHERE s.run_id = ANY($1) AND s.version > coalesce(n.version, 0)
  ORDER BY is_snapshot DESC, version`;

/** The runs with these ids; those that do not exist are left out. */
export async function loadRuns(runIds: readonly string[], read: ReadHandle): Promise<Map<string, StoredRun>> {
  return foldRows(await read.query<StoredRow>(LOAD, [runIds]));
}

export const RUN_STORE: StateStore<StoredRun> = { name: 'run', load: loadRuns };
