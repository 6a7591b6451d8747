import { TransientError, toFailure } from '@lineclear/errors';
import type { JobOutcome } from '../lane/input.js';
import type { JobExecutor, RunningJob } from '../lane/handlers.js';
import type { JobRow } from './job-row.js';

/** After its time-out an executor that ignores the abort is no longer waited for. */
const GRACE_MS = 5_000;

class NotDispatched extends Error {
  constructor(readonly reason: string) {
    super(`job was not dispatched: ${reason}`);
  }
}

/**
 * Runs one job to its outcome. Never rejects.
 * @param dispatchDeadline on the monotonic clock: nothing may be sent after it
 * @param abort ends the job early; its outcome is still reported
 */
export async function runJob(
  row: JobRow,
  execute: JobExecutor,
  dispatchDeadline: number,
  abort: AbortController,
): Promise<JobOutcome> {
  const { signal } = abort;
  const timeout = setTimeout(() => abort.abort(timedOut(row)), row.timeoutMs);
  const job: RunningJob = {
    id: row.id,
    kind: row.kind,
    key: row.key,
    tenant: row.tenant,
    attempt: row.attempt,
    payload: JSON.parse(row.payload) as unknown,
    timeoutMs: row.timeoutMs,
    assertMayDispatch() {
      if (signal.aborted) throw new NotDispatched('aborted');
      if (performance.now() > dispatchDeadline) throw new NotDispatched('dispatch-by-passed');
    },
  };
  const { promise: givenUp, resolve: giveUp } = Promise.withResolvers<JobOutcome>();
  let grace: NodeJS.Timeout | undefined;
  signal.addEventListener('abort', () => {
    grace = setTimeout(() => giveUp({ status: 'failed', failure: toFailure(signal.reason) }), GRACE_MS);
  });
  try {
    return await Promise.race([outcomeOf(execute, job, signal), givenUp]);
  } finally {
    clearTimeout(timeout);
    clearTimeout(grace);
  }
}

async function outcomeOf(execute: JobExecutor, job: RunningJob, signal: AbortSignal): Promise<JobOutcome> {
  try {
    return { status: 'done', result: await execute(job, signal) };
  } catch (error) {
    if (error instanceof NotDispatched) return { status: 'not-dispatched', reason: error.reason };
    return { status: 'failed', failure: toFailure(signal.aborted ? signal.reason : error) };
  }
}

function timedOut(row: JobRow): TransientError {
  return new TransientError('timed-out', `job of kind \`${row.kind}\` was not done in ${row.timeoutMs} ms`);
}
