import type { Topic } from '@lineclear/contracts';
import { message } from '../held/held-index.js';
import type { HeldRef, HeldState } from '../held/held-row.js';
import type { JobRow } from '../jobs/job-row.js';
import { timerKey } from '../timers/timer-queue.js';
import type { ReadHandle } from './batch.js';
import { Shard, type TimerEntry } from './shard.js';

/**
 * Takes shards: raises their epochs, committed alone, in ascending order. It waits for a statement of the former owner that still runs; a later
 * one finds another epoch and is refused.
 * CAUTION: what the shards hold is read by `loadShards` in new statements, whose snapshots are younger than that wait (messaging.md section 1).
 */
export async function takeShards(read: ReadHandle, owner: string, ids: readonly number[]): Promise<Shard[]> {
  const rows = await read.query<{ shard: number; epoch: string }>(
    `WITH locked AS (SELECT shard FROM shard WHERE shard = ANY($1) ORDER BY shard FOR UPDATE)
     UPDATE shard AS s SET epoch = epoch + 1, owner = $2 FROM locked WHERE s.shard = locked.shard RETURNING s.shard, s.epoch`,
    [ids, owner],
  );
  return rows.map(({ shard, epoch }) => new Shard(shard, epoch)).sort((a, b) => a.id - b.id);
}

/** Reads all that the owner keeps in memory. @param timersUntil timers due later are left in the table */
export async function loadShards(
  read: ReadHandle,
  shards: readonly Shard[],
  topics: readonly Topic[],
  timersUntil: Date,
): Promise<void> {
  const byId = new Map(shards.map((shard) => [shard.id, shard]));
  const ids = [...byId.keys()];
  await loadPositions(read, byId, ids);
  await loadHeads(read, byId, ids, topics);
  for (const row of await loadJobs(read, ids)) byId.get(row.shard)?.jobs.set(row.id, row);
  await loadTimers(read, shards, timersUntil);
  await loadHeld(read, byId, ids);
}

async function loadPositions(
  read: ReadHandle,
  byId: ReadonlyMap<number, Shard>,
  ids: readonly number[],
): Promise<void> {
  const rows = await read.query<{ shard: number; name: string; next: string }>(
    `SELECT s.shard, p.key AS name, p.value AS next FROM shard AS s CROSS JOIN LATERAL jsonb_each_text(s.positions::jsonb) AS p WHERE s.shard = ANY($1)`,
    [ids],
  );
  for (const { shard, name, next } of rows) byId.get(shard)?.positions.set(name, BigInt(next));
}

/** One index probe per topic and shard; what retention dropped is remembered in outbox_floor. */
async function loadHeads(
  read: ReadHandle,
  byId: ReadonlyMap<number, Shard>,
  ids: readonly number[],
  topics: readonly Topic[],
): Promise<void> {
  const rows = await read.query<{ topic: Topic; shard: number; next: string }>(
    `SELECT t.topic, s.shard, greatest(
       coalesce((SELECT o."offset" + 1 FROM outbox o WHERE o.topic = t.topic AND o.partition = s.shard ORDER BY o."offset" DESC LIMIT 1), 0),
       coalesce((SELECT f.next FROM outbox_floor f WHERE f.topic = t.topic AND f.partition = s.shard), 0)) AS next
     FROM unnest($1::text[]) AS t(topic), unnest($2::int[]) AS s(shard)`,
    [topics, ids],
  );
  for (const { topic, shard, next } of rows) byId.get(shard)?.heads.set(topic, BigInt(next));
}

async function loadJobs(read: ReadHandle, ids: readonly number[]): Promise<JobRow[]> {
  return await read.query<JobRow>(
    `SELECT id, shard, kind, key, tenant, attempt, payload, traceparent, state, owner, (extract(epoch FROM dispatch_by) * 1000)::float8 AS "dispatchBy",
       dispatch_by_ms AS "dispatchByMs", timeout_ms AS "timeoutMs", lost FROM job WHERE shard = ANY($1)`,
    [ids],
  );
}

/** Puts the timers that are due before `until` into their shards; those known already keep their entry. Returns the new ones. */
export async function loadTimers(read: ReadHandle, shards: readonly Shard[], until: Date): Promise<TimerEntry[]> {
  const byId = new Map(shards.map((shard) => [shard.id, shard]));
  const rows = await read.query<{ key: string; name: string; shard: number; dueAt: number; payload: string }>(
    `SELECT key, name, shard, (extract(epoch FROM due_at) * 1000)::float8 AS "dueAt", payload FROM timer WHERE shard = ANY($1) AND due_at < $2`,
    [[...byId.keys()], until],
  );
  const loaded: TimerEntry[] = [];
  for (const { shard: id, ...row } of rows) {
    const shard = byId.get(id);
    if (shard === undefined || shard.timers.has(timerKey(row.key, row.name))) continue;
    const entry = { shard, ...row };
    shard.timers.set(timerKey(row.key, row.name), entry);
    loaded.push(entry);
  }
  return loaded;
}

interface HeldSql extends Omit<HeldRef, 'n'> {
  readonly n: string;
  readonly shard: number;
  readonly state: HeldState;
}

async function loadHeld(read: ReadHandle, byId: ReadonlyMap<number, Shard>, ids: readonly number[]): Promise<void> {
  const held = await read.query<HeldSql>(
    `SELECT shard, key, n, held_id AS "heldId", source, id, type, state, attempts, (extract(epoch FROM due_at) * 1000)::float8 AS "dueAt",
       code FROM held WHERE shard = ANY($1) ORDER BY key, n`,
    [ids],
  );
  for (const { shard, n, ...ref } of held) byId.get(shard)?.held.append({ ...ref, n: Number(n) });
  const drops = await read.query<{ shard: number; source: string; id: string }>(
    'SELECT shard, source, id FROM drop_mark WHERE shard = ANY($1)',
    [ids],
  );
  for (const { shard, source, id } of drops) byId.get(shard)?.drops.add(message(source, id));
}
