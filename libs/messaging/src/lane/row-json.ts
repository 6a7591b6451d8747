import type { ColumnType, Row, TableSpec } from './table.js';

type Writer = (value: unknown) => string;

/** How a value of each type is written into the JSON parameter of a statement. */
const WRITERS: Readonly<Record<ColumnType, Writer>> = {
  text: JSON.stringify,
  int: plain,
  bigint: plain,
  boolean: plain,
  timestamptz: JSON.stringify,
  jsonb: JSON.stringify,
  'json-text': String,
  'text[]': JSON.stringify,
};

/** CAUTION: only what cannot hold a quote or a brace goes in bare. */
function plain(value: unknown): string {
  return typeof value === 'number' || typeof value === 'bigint' || typeof value === 'boolean'
    ? String(value)
    : JSON.stringify(value);
}

/** Type that json_to_recordset reads the value as. */
export const readAs = (type: ColumnType): string => (type === 'json-text' ? 'json' : type);

interface Column {
  readonly name: string;
  readonly prefix: string;
  readonly write: Writer;
}

/** Writes rows of one table as JSON objects, without going over texts twice. Columns that are undefined or null are left out. */
export class RowJson {
  readonly #columns: readonly Column[];

  constructor(table: TableSpec) {
    this.#columns = Object.entries(table.columns).map(([name, type]) => ({
      name,
      prefix: `${JSON.stringify(name)}:`,
      write: WRITERS[type],
    }));
  }

  write(row: Row, expect: number | undefined): string {
    let text = expect === undefined ? '{' : `{"__expect":${expect}`;
    for (const { name, prefix, write } of this.#columns) {
      const value = row[name];
      if (value === undefined || value === null) continue;
      text += text.length === 1 ? prefix + write(value) : `,${prefix}${write(value)}`;
    }
    return `${text}}`;
  }
}
