import type { BatchWrites } from './batch-writes.js';
import type { LaneConnection } from './connection.js';
import type { LaneCounters } from './counters.js';
import type { DatabaseClock } from './database-clock.js';
import { LazyPositions } from './lazy-positions.js';
import type { Positions } from './positions.js';
import type { PublishedPositions } from './published-positions.js';
import type { Shard } from './shard.js';
import { type LaneStatement, StatementCache } from './statement-cache.js';
import { fenceValues, StatementParts } from './statement-parts.js';
import { TableMarks } from './table-marks.js';

/** The shard's positions are written as they are in memory. */
const UNMOVED: ReadonlyMap<string, bigint> = new Map();

export interface CommitOptions {
  readonly connection: LaneConnection;
  readonly clock: DatabaseClock;
  readonly counters: LaneCounters;
  readonly shards: ReadonlyMap<number, Shard>;
  /** positions are kept in the shard's row */
  readonly keepsPositions: boolean;
  readonly published: PublishedPositions;
  /** told of shards whose positions were written although no work of theirs was */
  kept(shards: readonly Shard[]): void;
}

/** A statement that is not sent yet, with what it will have written. */
export interface Unsent extends LaneStatement {
  readonly touched: ReadonlySet<Shard>;
  readonly published: ReturnType<PublishedPositions['pending']>;
  readonly events: number;
}

/** Makes the statements of one lane and keeps what follows from them: positions that wait, the clock, the counters. */
export class Commits {
  readonly #statements: StatementCache;
  readonly #parts: StatementParts;
  readonly #lazy = new LazyPositions();
  readonly marks = new TableMarks();

  constructor(private readonly options: CommitOptions) {
    this.#statements = new StatementCache(options.connection);
    this.#parts = new StatementParts(options.connection.schema);
  }

  /** The positions of a shard moved in memory, over messages that need nothing. */
  passed(shard: Shard): void {
    this.#lazy.add([shard]);
  }

  /** Whether positions that moved over messages which changed nothing should be written by themselves. */
  mustKeep({ atOnce }: { readonly atOnce: boolean }): boolean {
    return !this.#lazy.isEmpty && (atOnce || this.#lazy.isDue);
  }

  /** Nothing to write is nothing to send: positions alone can wait, unless `withLazy`. */
  prepare(writes: BatchWrites, positions: Positions, withLazy = this.#lazy.isDue): Unsent | undefined {
    const { keepsPositions, shards, connection } = this.options;
    const published = this.options.published.pending();
    if (writes.touched.size === 0 && published.size === 0 && !withLazy) return undefined;
    const moved = new Map(keepsPositions ? positions : []);
    for (const shard of this.#lazy.owned(shards))
      if (!moved.has(shard) && (withLazy || writes.touched.has(shard) || published.has(shard)))
        moved.set(shard, UNMOVED);
    const touched = new Set([...writes.touched, ...moved.keys(), ...published.keys()]);
    if (touched.size === 0) return undefined;
    const fence = fenceValues(touched, moved, published, keepsPositions);
    const body = this.#parts.of(writes.folds.values());
    this.marks.sending(writes.folds.keys());
    return { ...body, schema: connection.schema, fence, touched, published, events: writes.records.length };
  }

  /** What was not worth a statement waits for the next one. */
  unsent(positions: Positions): void {
    if (this.options.keepsPositions) this.#lazy.add(positions.keys());
  }

  /** Sends a statement by itself. */
  async send(statement: Unsent): Promise<void> {
    const sentAt = performance.now();
    try {
      this.written(statement, await this.#statements.execute([statement]));
    } finally {
      this.options.counters.databaseMs += performance.now() - sentAt;
    }
  }

  /** The statement was committed. @param now the database's time then */
  written({ touched, published, events }: Unsent, now: number): void {
    const { clock, counters } = this.options;
    clock.sample(now);
    counters.commits += 1;
    counters.events += events;
    this.options.published.committed(published);
    if (!this.#lazy.isEmpty) this.options.kept([...touched].filter((shard) => this.#lazy.has(shard)));
    this.#lazy.written(touched);
  }
}
