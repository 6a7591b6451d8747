import { InvariantViolationError } from '@lineclear/errors';
import type { Row, TableSpec } from './table.js';

const FIRST_ROWS = 500;
const LATER_EVERY = 64;

/**
 * Finds rows with a column that their table lacks: a slip of the code, whose value would be lost. Looks at all of a table's first rows, later at some,
 * since rows come from few places of the code and looking at each costs more than writing it.
 */
export class ColumnCheck {
  readonly #seen = new Map<TableSpec, number>();

  /** @throws InvariantViolationError */
  check(table: TableSpec, row: Row): void {
    const seen = this.#seen.get(table) ?? 0;
    this.#seen.set(table, seen + 1);
    if (seen >= FIRST_ROWS && seen % LATER_EVERY !== 0) return;
    for (const column of Object.keys(row))
      if (table.columns[column] === undefined)
        throw new InvariantViolationError('invariant-violated', `table \`${table.name}\` has no column \`${column}\``);
  }
}
