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

/** U+001D to U+001F: JSON.stringify never writes them, and a batch with another text that holds them travels as JSON. */
const LIST_SEPARATOR = '\u001d';
const SEPARATOR = '\u001e';
const NULL = '\u001f';
const SPLIT = 'chr(30), chr(31)';

const quote = (name: string): string => `"${name.replaceAll('"', '""')}"`;

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
  const values = columns.map(([name, type], index) => `${elements(type, `$${first + index}`)} AS ${quote(name)}`);
  return `(SELECT ${values.join(', ')}) AS v`;
}

function elements(type: ColumnType, parameter: string): string {
  const texts = `string_to_array(${parameter}::text, ${SPLIT})`;
  if (type === 'text') return `unnest(${texts})`;
  if (type === 'jsonb') return `unnest(${texts}::jsonb[])`;
  return type === 'text[]' ? `string_to_array(unnest(${texts}), chr(29))` : `unnest(${parameter}::${type}[])`;
}

/** Parameters of a section without rows. */
export function emptyParameters(section: SectionLike): string[] {
  if (section.form === 'json') return ['[]'];
  return sectionColumns(section).map(([, type]) => (isSplit(type) ? '' : '{}'));
}

const isSplit = (type: ColumnType): boolean => type === 'text' || type === 'jsonb' || type === 'text[]';

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
  const texts: (string | null)[] = [];
  for (const { row } of rows) {
    const value = row[name];
    const text = value === undefined || value === null ? null : splittable(type, value);
    if (text === undefined) return undefined;
    texts.push(text);
  }
  // an empty text is no element at all when it is split
  const text = joinTexts(texts);
  return text === '' ? undefined : text;
}

/** One parameter of many texts. CAUTION: none of them holds a mark, and a single one is not empty. */
export const joinTexts = (texts: readonly (string | null)[]): string =>
  texts.map((text) => text ?? NULL).join(SEPARATOR);

function splittable(type: ColumnType, value: unknown): string | undefined {
  if (type === 'jsonb') return JSON.stringify(value);
  if (type === 'text[]') return listText(value);
  return typeof value === 'string' && !hasMark(value) ? value : undefined;
}

/** CAUTION: a list of one empty text would become an empty list. */
function listText(value: unknown): string | undefined {
  if (!Array.isArray(value) || (value.length === 1 && value[0] === '')) return undefined;
  const isPlain = value.every((text) => typeof text === 'string' && !hasMark(text) && !text.includes(LIST_SEPARATOR));
  return isPlain ? value.join(LIST_SEPARATOR) : undefined;
}

const hasMark = (text: string): boolean => text.includes(SEPARATOR) || text.includes(NULL);

/** Numbers, booleans and times as an array literal. CAUTION: only what cannot hold a comma or a brace. */
function literal(name: string, rows: readonly SentRow[]): string | undefined {
  const elements: string[] = [];
  for (const { row, expect } of rows) {
    const value = name === '__expect' ? expect : row[name];
    const element = value === undefined || value === null ? 'NULL' : plain(value);
    if (element === undefined) return undefined;
    elements.push(element);
  }
  return arrayText(elements);
}

/** An array literal of PostgreSQL. */
export const arrayText = (elements: readonly (string | number | bigint)[]): string => `{${elements.join(',')}}`;

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
