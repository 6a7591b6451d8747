import type { Shard } from './shard.js';
import type { Work } from './work.js';

/** Next offset to read, per shard and topic. */
export type Positions = ReadonlyMap<Shard, ReadonlyMap<string, bigint>>;

/**
 * How far the log is read once these works are done. INVARIANT: never past a work of `pending`, which a later statement does; never backwards,
 * so that a redelivered message moves nothing.
 */
export function positionsOf(works: readonly Work[], pending: readonly Work[]): Positions {
  const limits = new Map<Shard, Map<string, bigint>>();
  for (const work of pending) {
    if (work.origin !== 'bus') continue;
    const { topic, offset } = work.record;
    const topics = ofShard(limits, work.shard);
    const limit = topics.get(topic);
    if (limit === undefined || offset < limit) topics.set(topic, offset);
  }
  const positions = new Map<Shard, Map<string, bigint>>();
  for (const work of works) {
    if (work.origin !== 'bus') continue;
    const { shard } = work;
    const { topic, offset } = work.record;
    const next = offset + 1n;
    const limit = limits.get(shard)?.get(topic);
    if (limit !== undefined && next > limit) continue;
    if (next <= (shard.positions.get(topic) ?? 0n)) continue;
    const topics = ofShard(positions, shard);
    const seen = topics.get(topic);
    if (seen === undefined || next > seen) topics.set(topic, next);
  }
  return positions;
}

function ofShard(map: Map<Shard, Map<string, bigint>>, shard: Shard): Map<string, bigint> {
  let topics = map.get(shard);
  if (topics === undefined) map.set(shard, (topics = new Map()));
  return topics;
}
