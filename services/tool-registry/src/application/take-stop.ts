import { idempotencyKeyOf } from '@lineclear/contracts';
import type { EventInput } from '@lineclear/messaging';
import { type Effect, isOpen, settledStatus } from '../domain/effect.js';
import { closeQueued } from './take-attempt.js';
import type { RunWriter } from './run-writer.js';

/**
 * `running`: attempts of jobs that were dispatched before this batch.
 * The stop mark: no intent after it. Running calls are aborted and answered when they end, those without a slot are closed here; run.fenced says which is
 * which, once per n.
 */
export function takeStop(
  run: RunWriter,
  { event }: EventInput<'run.stop-started'>,
  running: ReadonlyMap<string, number>,
): void {
  const { n } = event.data;
  if (n <= run.run.stop) return;
  run.mark({ stop: n });
  for (const effect of [...run.run.calls.values()].filter(isOpen)) if (!effect.isWaiting) abort(run, effect, running);
  const calls = [...run.run.calls.values()];
  run.writes.emit({
    name: 'run.fenced',
    key: run.runId,
    tenant: run.tenant,
    data: {
      n,
      open: calls.filter(isOpen).map(({ callId }) => callId),
      settled: calls.flatMap((effect) => {
        const status = settledStatus(effect);
        return status === undefined ? [] : [{ callId: effect.callId, status }];
      }),
    },
  });
}

function abort(run: RunWriter, effect: Effect, running: ReadonlyMap<string, number>): void {
  const job = idempotencyKeyOf(effect.callId);
  const isRunning = running.get(job) === effect.attempt;
  // dispatched by an earlier input of this very batch: its row is not there yet, so it is left to end by itself
  if (!isRunning && effect.state === 'dispatched') return;
  run.writes.abortJob(job);
  if (!isRunning) closeQueued(run, effect);
}
