import type { Topic } from '@lineclear/contracts';
import { ConflictError } from '@lineclear/errors';
import type { BusPosition, PublishedPosition } from '../bus/bus.js';
import type { Shard } from './shard.js';

/** CAUTION: persisted in the positions of a shard, beside those that are read, which have no `/`. */
const NEXT = 'published/';
const BROKER_OFFSET = 'stored/';
const CLUSTER = 'cluster/';

interface Waiter {
  readonly shards: Set<Shard>;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

type Pending = ReadonlyMap<Shard, ReadonlyMap<string, bigint>>;

/** How far the relay has sent each log of ours; it moves in the lane's next statement. */
export class PublishedPositions {
  #pending = new Map<Shard, Map<string, bigint>>();
  readonly #waiters = new Set<Waiter>();

  set(positions: readonly PublishedPosition[], shards: ReadonlyMap<number, Shard>): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const waited = new Set<Shard>();
    for (const { topic, partition, next, brokerOffset, cluster } of positions) {
      const shard = shards.get(partition);
      if (shard === undefined) {
        reject(fenced(partition));
        return promise;
      }
      waited.add(shard);
      const names = this.#pending.get(shard) ?? new Map<string, bigint>();
      this.#pending.set(shard, names.set(NEXT + topic, next));
      if (brokerOffset !== undefined) names.set(BROKER_OFFSET + topic, brokerOffset);
      if (cluster !== undefined) names.set(CLUSTER + topic, cluster);
    }
    this.#waiters.add({ shards: waited, resolve, reject });
    return promise;
  }

  get isEmpty(): boolean {
    return this.#pending.size === 0;
  }

  pending(): Pending {
    return new Map([...this.#pending].map(([shard, names]) => [shard, new Map(names)]));
  }

  committed(taken: Pending): void {
    for (const [shard, names] of taken) {
      const pending = this.#pending.get(shard);
      for (const [name, next] of names) {
        shard.positions.set(name, next);
        if (pending?.get(name) === next) pending.delete(name);
      }
      if (pending?.size === 0) this.#pending.delete(shard);
    }
    for (const waiter of this.#waiters) {
      if ([...waiter.shards].some((shard) => this.#pending.has(shard))) continue;
      this.#waiters.delete(waiter);
      waiter.resolve();
    }
  }

  lost(shard: Shard): void {
    this.#pending.delete(shard);
    for (const waiter of this.#waiters) {
      if (!waiter.shards.has(shard)) continue;
      this.#waiters.delete(waiter);
      waiter.reject(fenced(shard.id));
    }
  }
}

/** What the relay has sent of these shards' logs. */
export function publishedOf(shards: Iterable<Shard>): PublishedPosition[] {
  const published: PublishedPosition[] = [];
  for (const { id, heads, positions } of shards)
    for (const topic of heads.keys()) {
      const brokerOffset = positions.get(BROKER_OFFSET + topic);
      const cluster = positions.get(CLUSTER + topic);
      published.push({
        topic,
        partition: id,
        next: positions.get(NEXT + topic) ?? 0n,
        ...(brokerOffset === undefined ? {} : { brokerOffset }),
        ...(cluster === undefined ? {} : { cluster }),
      });
    }
  return published;
}

/** What is kept of a shard's positions where the broker keeps those that are read: an old one would hide that a topic begins anew. */
export function withoutReadPositions(positions: ReadonlyMap<string, bigint>): Map<string, bigint> {
  return new Map([...positions].filter(([name]) => name.includes('/')));
}

/** How far these shards have read, as it is kept with them. */
export function readPositions(shards: Iterable<Shard>): BusPosition[] {
  const positions: BusPosition[] = [];
  for (const { id, positions: kept } of shards)
    for (const [name, next] of kept)
      if (!name.includes('/')) positions.push({ topic: name as Topic, partition: id, next });
  return positions;
}

function fenced(shard: number): ConflictError {
  return new ConflictError('fenced', `shard ${shard} has another owner now`);
}
