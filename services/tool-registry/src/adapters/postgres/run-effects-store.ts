import { idempotencyKeyOf, type ToolResult } from '@lineclear/contracts';
import type { ReadHandle, StateStore } from '@lineclear/messaging';
import type { Effect } from '../../domain/effect.js';
import { NO_EFFECTS, type RunEffects, withEffect } from '../../domain/run-effects.js';
import { EFFECT_COLUMNS, effectOf, type EffectRow } from './effect-row.js';

const CALLS = `SELECT ${EFFECT_COLUMNS} FROM effect AS e WHERE run_id = ANY($1::text[]) AND (state IN ('intent', 'dispatched', 'unknown')
  OR turn = (SELECT max(turn) FROM effect AS m WHERE m.run_id = e.run_id)) ORDER BY turn`;

interface MarkRow {
  readonly run_id: string;
  readonly tenant: string;
  readonly stop: number;
  readonly toolset_hash: string | null;
}

export const RUN_EFFECTS: StateStore<RunEffects> = {
  name: 'run-effects',
  async load(runIds, read) {
    const marks = await read.query<MarkRow>(
      'SELECT run_id, tenant, stop, toolset_hash FROM run_mark WHERE run_id = ANY($1::text[])',
      [runIds],
    );
    const runs = new Map<string, RunEffects>();
    for (const { run_id, tenant, stop, toolset_hash } of marks)
      runs.set(run_id, { ...NO_EFFECTS, tenant, stop, toolsetHash: toolset_hash });
    for (const row of await read.query<EffectRow>(CALLS, [runIds]))
      runs.set(row.run_id, withEffect(runs.get(row.run_id) ?? NO_EFFECTS, effectOf(row)));
    return runs;
  },
};

/** An entry of the ledger that is no longer in mind, with its result. */
export interface StoredEffect {
  readonly effect: Effect;
  readonly result: ToolResult | undefined;
}

/** Entries by call id, whatever their age. One query. */
export async function loadEffects(
  read: ReadHandle,
  callIds: readonly string[],
): Promise<ReadonlyMap<string, StoredEffect>> {
  if (callIds.length === 0) return new Map();
  const rows = await read.query<EffectRow & { result: string | null }>(
    `SELECT ${EFFECT_COLUMNS}, result FROM effect WHERE key = ANY($1::text[])`,
    [callIds.map(idempotencyKeyOf)],
  );
  return new Map(
    rows.map((row) => [
      row.call_id,
      {
        effect: effectOf(row),
        result: row.result === null ? undefined : (JSON.parse(row.result) as ToolResult),
      },
    ]),
  );
}

/** Attempt of each of these jobs that has been dispatched. CAUTION: `job` is the lane's table; it is only read, to know what an abort will do. */
export async function loadRunningJobs(
  read: ReadHandle,
  jobIds: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  if (jobIds.length === 0) return new Map();
  const rows = await read.query<{ id: string; attempt: number }>(
    "SELECT id, attempt FROM job WHERE id = ANY($1::text[]) AND state = 'dispatched'",
    [jobIds],
  );
  return new Map(rows.map(({ id, attempt }) => [id, attempt]));
}
