import type { StateStore } from './batch.js';

/** Whose the state is: a shard as taken at one epoch. The entry dies with it. */
export interface CacheOwner {
  readonly isLost: boolean;
}

export interface CacheEntry {
  readonly state: unknown;
  readonly owner: CacheOwner;
}

/**
 * States of aggregates, least recently used out first. INVARIANT: only what one shard alone used is kept, since only its owner knows of every
 * write; an entry counts no longer when its shard was lost.
 */
export class StateCache {
  readonly #stores = new Map<StateStore<unknown>, Map<string, CacheEntry>>();

  constructor(private readonly limit: number) {}

  get(store: StateStore<unknown>, key: string): CacheEntry | undefined {
    const entries = this.#stores.get(store);
    const entry = entries?.get(key);
    if (entries === undefined || entry === undefined) return undefined;
    entries.delete(key);
    if (entry.owner.isLost) return undefined;
    entries.set(key, entry);
    return entry;
  }

  set(store: StateStore<unknown>, key: string, entry: CacheEntry): void {
    let entries = this.#stores.get(store);
    if (entries === undefined) this.#stores.set(store, (entries = new Map()));
    entries.delete(key);
    entries.set(key, entry);
    if (entries.size <= this.limit) return;
    for (const oldest of entries.keys()) {
      entries.delete(oldest);
      break;
    }
  }

  forget(store: StateStore<unknown>, key: string): void {
    this.#stores.get(store)?.delete(key);
  }

  get size(): number {
    let size = 0;
    for (const entries of this.#stores.values()) size += entries.size;
    return size;
  }
}
