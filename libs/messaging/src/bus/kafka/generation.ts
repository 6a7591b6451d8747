/** One assignment of the group to this member. Everything that belongs to an older one is discarded. */
export class Generation {
  readonly #closed: Set<number>;
  readonly #fetchedNodes = new Set<number>();
  readonly #over = new AbortController();

  constructor(readonly shards: readonly number[]) {
    this.#closed = new Set(shards);
  }

  /** Aborts when another assignment, or none, has followed. */
  get over(): AbortSignal {
    return this.#over.signal;
  }

  end(): void {
    this.#over.abort();
  }

  has(shard: number): boolean {
    return this.shards.includes(shard);
  }

  /** The lane owns the shard and may be given its records. */
  isOpen(shard: number): boolean {
    return !this.#closed.has(shard) && !this.over.aborted;
  }

  open(shards: readonly number[]): void {
    for (const shard of shards) this.#closed.delete(shard);
  }

  close(shards: readonly number[]): void {
    for (const shard of shards) if (this.has(shard)) this.#closed.add(shard);
  }

  fetched(node: number): void {
    this.#fetchedNodes.add(node);
  }

  /** All shards are open and every broker has answered a fetch. */
  isReading(nodes: readonly number[]): boolean {
    return !this.over.aborted && this.#closed.size === 0 && nodes.every((node) => this.#fetchedNodes.has(node));
  }
}
