import type { LineclearClient, RunView } from '@lineclear/client';
import { AppError, dispositionOf } from '@lineclear/errors';
import type { Batch } from './batch.js';
import type { InboxFile } from './inbox.js';

/** One file of the inbox on its way. */
export interface TrackedTask {
  readonly file: string;
  readonly taskId: string;
  readonly runId: string | null;
  /** code of the refusal, when the task was refused */
  readonly refusal: { readonly code: string; readonly message: string } | null;
  readonly run: RunView | null;
}

export interface Senders {
  readonly inbox: LineclearClient;
  readonly intern: LineclearClient;
}

const PAUSE_MS = 200;

export const taskIdOf = (batch: Batch, file: string): string => `${batch.id}/${file}`;

/**
 * Publishes a file as a task event. The same file of the same batch again is the same run, so a batch can be published again after a crash.
 * Waits and repeats while the platform cannot take it; a refusal is an outcome, not an error.
 */
export async function publish(
  file: InboxFile,
  batch: Batch,
  senders: Senders,
  signal: AbortSignal,
): Promise<TrackedTask> {
  const taskId = taskIdOf(batch, file.name);
  const task = {
    id: taskId,
    source: `/erp/${file.sender}`,
    data: file.data,
    ...(file.tenant === undefined ? {} : { tenant: file.tenant }),
  };
  for (;;) {
    signal.throwIfAborted();
    try {
      const { runId } = await senders[file.sender].submit(task);
      return { file: file.name, taskId, runId, refusal: null, run: null };
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      if (dispositionOf(error) === 'terminal') {
        const reason = error.details['reason'];
        const code = typeof reason === 'string' ? reason : error.code;
        return { file: file.name, taskId, runId: null, refusal: { code, message: error.message }, run: null };
      }
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    }
  }
}
