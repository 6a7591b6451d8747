import type { Shard } from './shard.js';

/** Positions are no dedupe: what is read again after a crash within this time changed nothing the first time either. */
const KEPT_MS = 1_000;

/**
 * Shards whose positions moved over messages that changed nothing. They are written with the next statement that touches the shard, at the latest after
 * KEPT_MS: a service that skips most of a topic does not commit for each message it skips.
 */
export class LazyPositions {
  readonly #shards = new Set<Shard>();
  #since = Number.POSITIVE_INFINITY;

  get isEmpty(): boolean {
    return this.#shards.size === 0;
  }

  get isDue(): boolean {
    return performance.now() - this.#since >= KEPT_MS;
  }

  add(shards: Iterable<Shard>): void {
    if (this.isEmpty) this.#since = performance.now();
    for (const shard of shards) this.#shards.add(shard);
  }

  has(shard: Shard): boolean {
    return this.#shards.has(shard);
  }

  /** Those that are still ours; a shard that was lost has its positions from its next owner. */
  owned(shards: ReadonlyMap<number, Shard>): Shard[] {
    for (const shard of this.#shards) if (shards.get(shard.id) !== shard) this.#shards.delete(shard);
    return [...this.#shards];
  }

  written(shards: Iterable<Shard>): void {
    for (const shard of shards) this.#shards.delete(shard);
    this.#since = this.isEmpty ? Number.POSITIVE_INFINITY : performance.now();
  }
}
