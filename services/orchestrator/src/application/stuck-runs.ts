import type { ReadHandle } from '@lineclear/messaging';

/** A live run that nothing will move on: no timer, job, message or person in whose hands it is answers for it. */
export interface StuckRun {
  readonly runId: string;
  readonly tenant: string;
  readonly state: string;
  readonly changedAt: Date;
}

const LIMIT = 100;

/**
 * A run is silent for too long when its `quiet_until` has passed, or when it reasons without a model job; both with some grace for what is on its way.
 * A run with held messages is an operator's already (`lineclear parked list`), one with an open mailbox row is being worked on.
 */
const STUCK = `
  SELECT run_id AS "runId", tenant, state, changed_at AS "changedAt" FROM run
  WHERE finished_at IS NULL
    AND (quiet_until < now() OR (state = 'reasoning' AND changed_at < now() - interval '20 seconds'
      AND NOT EXISTS (SELECT 1 FROM job WHERE job.key = run.run_id)))
    AND NOT EXISTS (SELECT 1 FROM held WHERE held.key = run.run_id)
    AND NOT EXISTS (SELECT 1 FROM mailbox WHERE mailbox.key = run.run_id AND mailbox.result IS NULL)
  ORDER BY changed_at LIMIT ${LIMIT}`;

/** The stuck runs, longest silence first; at most 100. */
export function findStuckRuns(read: ReadHandle): Promise<StuckRun[]> {
  return read.query<StuckRun>(STUCK);
}
