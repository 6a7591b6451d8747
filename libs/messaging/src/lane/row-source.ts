import type { OpKind } from './table-fold.js';
import type { ColumnType, Row, TableSpec } from './table.js';

/**
 * How the rows of a section travel. `columns`: one text per column, its values joined by a separator that JSON text cannot contain, so that nothing is escaped
 * and PostgreSQL only splits (measured: half the backend's time per logged event). `json`: one JSON array of objects, for what cannot travel so.
 */
export type RowForm = 'json' | 'columns';

/** A row with, for a guarded replacement, the version that it must have now. */
export interface SentRow {
  readonly row: Row;
  readonly expect: number | undefined;
}

interface SectionLike {
  readonly table: TableSpec;
  readonly kind: OpKind;
  readonly form: RowForm;
}

type Column = readonly [name: string, type: ColumnType];

/** U+001E and U+001F: JSON.stringify never writes them, and a batch with another text that holds them travels as JSON. */
const SEPARATOR = '\u001e';
const NULL = '\u001f';
const SPLIT = 'chr(30), chr(31)';

const quote = (name: string): string => `"${name.replaceAll('"', '""')}"`;

/** The form for a table: arrays within arrays would have to be escaped again. */
export function preferredForm(table: TableSpec): RowForm {
  return Object.values(table.columns).includes('text[]') ? 'json' : 'columns';
}

/** Columns that a section sends. */
export function sectionColumns({ table, kind }: Pick<SectionLike, 'table' | 'kind'>): readonly Column[] {
  const columns = Object.entries(table.columns);
  if (kind === 'remove') return columns.filter(([name]) => table.key.includes(name));
  return kind === 'replace' ? [...columns, ['__expect', 'bigint']] : columns;
}

/** The rows as an SQL source `v`, from the parameter with number `first` on. */
export function rowSource(section: SectionLike, first: number): string {
  const columns = sectionColumns(section);
  if (section.form === 'json') {
    const typed = columns.map(([name, type]) => `${quote(name)} ${type}`);
    return `json_to_recordset($${first}::json) AS v(${typed.join(', ')})`;
  }
  const values = columns.map(([name, type], index) => `unnest(${array(type, `$${first + index}`)}) AS ${quote(name)}`);
  return `(SELECT ${values.join(', ')}) AS v`;
}

function array(type: ColumnType, parameter: string): string {
  if (type === 'text') return `string_to_array(${parameter}::text, ${SPLIT})`;
  return type === 'jsonb' ? `string_to_array(${parameter}::text, ${SPLIT})::jsonb[]` : `${parameter}::${type}[]`;
}

/** Parameters of a section without rows. */
export function emptyParameters(section: SectionLike): string[] {
  if (section.form === 'json') return ['[]'];
  return sectionColumns(section).map(([, type]) => (isSplit(type) ? '' : '{}'));
}

const isSplit = (type: ColumnType): boolean => type === 'text' || type === 'jsonb';

/** The rows as one JSON array. */
export function jsonParameters(columns: readonly Column[], rows: readonly SentRow[]): string[] {
  return [`[${rows.map(({ row, expect }) => jsonRow(columns, row, expect)).join(',')}]`];
}

function jsonRow(columns: readonly Column[], row: Row, expect: number | undefined): string {
  let text = '';
  for (const [name] of columns) {
    const value = name === '__expect' ? expect : row[name];
    if (value === undefined || value === null) continue;
    text += `${text === '' ? '' : ','}${JSON.stringify(name)}:${plain(value) ?? JSON.stringify(value)}`;
  }
  return `{${text}}`;
}

/** The rows as one text per column; undefined when a value cannot travel so. */
export function columnParameters(columns: readonly Column[], rows: readonly SentRow[]): string[] | undefined {
  const texts: string[] = [];
  for (const [name, type] of columns) {
    const text = isSplit(type) ? joined(name, type, rows) : literal(name, rows);
    if (text === undefined) return undefined;
    texts.push(text);
  }
  return texts;
}

function joined(name: string, type: ColumnType, rows: readonly SentRow[]): string | undefined {
  let text = '';
  for (const [index, { row }] of rows.entries()) {
    const value = row[name];
    if (index > 0) text += SEPARATOR;
    if (value === undefined || value === null) text += NULL;
    else if (type === 'jsonb') text += JSON.stringify(value);
    else if (typeof value !== 'string' || hasMark(value)) return undefined;
    else text += value;
  }
  // an empty text is no element at all when it is split
  return text === '' ? undefined : text;
}

const hasMark = (text: string): boolean => text.includes(SEPARATOR) || text.includes(NULL);

/** Numbers, booleans and times as an array literal. CAUTION: only what cannot hold a comma or a brace. */
function literal(name: string, rows: readonly SentRow[]): string | undefined {
  let text = '{';
  for (const { row, expect } of rows) {
    const value = name === '__expect' ? expect : row[name];
    const element = value === undefined || value === null ? 'NULL' : plain(value);
    if (element === undefined) return undefined;
    text += text.length === 1 ? element : `,${element}`;
  }
  return `${text}}`;
}

let lastMs = Number.NaN;
let lastIso = '';

/** Most dates of a batch are its own time. */
function iso(date: Date): string {
  const ms = date.getTime();
  if (ms !== lastMs) {
    lastIso = date.toISOString();
    lastMs = ms;
  }
  return lastIso;
}

/** Bare where a value cannot hold a quote, comma or brace; undefined else. */
function plain(value: unknown): string | undefined {
  if (typeof value === 'number' || typeof value === 'bigint' || typeof value === 'boolean') return String(value);
  return value instanceof Date ? `"${iso(value)}"` : undefined;
}
