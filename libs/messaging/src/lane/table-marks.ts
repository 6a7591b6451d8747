import type { TableSpec } from './table.js';

/** How often a lane has sent rows of each table. INVARIANT: counted before the statement is sent, so that a lost answer leaves nothing old in use. */
export class TableMarks {
  readonly #sent = new Map<string, number>();
  #takeovers = 0;

  /** Rows of these tables are about to be written. */
  sending(tables: Iterable<TableSpec>): void {
    for (const { name } of tables) this.#sent.set(name, (this.#sent.get(name) ?? 0) + 1);
  }

  /** Shards were taken: what was known may be of another time. */
  taken(): void {
    this.#takeovers += 1;
  }

  /** Grows with every statement that wrote one of these, and with every takeover. */
  of(tables: readonly TableSpec[]): number {
    return tables.reduce((sum, { name }) => sum + (this.#sent.get(name) ?? 0), this.#takeovers);
  }
}
