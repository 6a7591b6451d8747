import type { CommandInput } from '@lineclear/messaging';
import type { RunInput } from '@lineclear/run';
import type { OrchestratorConfig } from '../config.js';
import { judgeSubmission } from '../domain/judge-submission.js';
import type { Submission } from '../domain/submission.js';

/** The core's input for a submitted task, judged under the present configuration. */
export function taskInputOf(
  { key, by, payload }: CommandInput<Submission>,
  at: string,
  { agents, gateway }: Pick<OrchestratorConfig, 'agents' | 'gateway'>,
): RunInput & { readonly kind: 'task' } {
  const { task, payloadHash } = payload;
  return {
    kind: 'task',
    id: task.id,
    at,
    runId: key,
    taskSource: task.source,
    payloadHash,
    submission: judgeSubmission(payload, by, { agents, describeModel: (route) => gateway.describe(route) }),
  };
}
