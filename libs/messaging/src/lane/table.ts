/** PostgreSQL types that a lane may write. `text` also for event payloads: jsonb rewrites bytes. */
export type ColumnType = 'text' | 'int' | 'bigint' | 'boolean' | 'timestamptz' | 'jsonb' | 'text[]';

/** A value of a row as handlers give it; Date for timestamptz, any JSON value for jsonb. */
export type Row = Readonly<Record<string, unknown>>;

/** A table that a lane writes. `version` names an int column that guards replacement. */
export interface TableSpec {
  readonly name: string;
  readonly columns: Readonly<Record<string, ColumnType>>;
  readonly key: readonly string[];
  readonly version?: string;
}

/** Declares a table once, next to its store. CAUTION: must agree with the service's migrations. */
export function defineTable(spec: TableSpec): TableSpec {
  return Object.freeze(spec);
}
