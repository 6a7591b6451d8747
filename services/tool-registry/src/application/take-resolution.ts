import { type AppError, NotFoundError, toFailure } from '@lineclear/errors';
import type { CommandInput } from '@lineclear/messaging';
import type { StoredEffect } from '../adapters/postgres/run-effects-store.js';
import type { Effect } from '../domain/effect.js';
import { resolveUnknown } from '../domain/resolve.js';
import type { ResolveCall } from './run-commands.js';
import { refOf, type RunWriter } from './run-writer.js';

/** An operator's word on an unknown outcome; another tenant's call does not exist for him. */
export function takeResolution(
  run: RunWriter,
  input: CommandInput<ResolveCall>,
  older: ReadonlyMap<string, StoredEffect>,
): void {
  const { payload, tenant, by } = input;
  try {
    const effect = run.run.calls.get(payload.callId) ?? older.get(payload.callId)?.effect;
    if (effect === undefined || effect.tenant !== tenant) throw unknownCall(payload.callId);
    resolve(run, effect, payload, by?.subject ?? 'platform');
    run.writes.answer({ ok: true, value: { callId: payload.callId, outcome: payload.outcome } });
  } catch (error) {
    run.writes.answer({ ok: false, failure: toFailure(error) });
  }
}

function resolve(run: RunWriter, effect: Effect, { outcome, result, reason }: ResolveCall, by: string): void {
  const resolved = resolveUnknown(effect, outcome, run.now.getTime());
  if (resolved === undefined) return;
  run.effect(resolved, { result });
  run.claim(resolved, { result });
  const data = { ...refOf(effect), outcome, by, reason, ...(result === undefined ? {} : { result }) };
  run.writes.emit({ name: 'tool-call.resolved', key: run.runId, tenant: run.tenant, data });
}

const unknownCall = (callId: string): AppError =>
  new NotFoundError(`there is no call \`${callId}\`; \`GET /v1/calls?status=unknown\` lists those that wait`);
