import { emptyParameters, rowSource, type RowForm, sectionColumns } from './row-source.js';
import type { OpKind } from './table-fold.js';
import { defineTable, type TableSpec } from './table.js';

/** SQLSTATEs that a lane statement raises. CAUTION: also in tests of every service that reads them. */
export const FENCED = 'LCF01';
export const GUARD = 'LCG01';

/** One kind of operation on one table; a shape is a list of them. */
export interface Section {
  readonly id: string;
  readonly schema: string;
  readonly table: TableSpec;
  readonly kind: OpKind;
  readonly form: RowForm;
}

/** The parameters of a section: all its rows in a few texts (long arrays of pg block the loop), and their number where a guard counts. */
export interface SectionValues {
  readonly texts: readonly string[];
  readonly count: number;
}

/** The rows of a fence: the shards, the epochs that they must have, and their positions or null. CAUTION: fenceValues gives these. */
const FENCE_TABLE = defineTable({
  name: 'shard',
  columns: { shard: 'int', epoch: 'bigint', positions: 'text' },
  key: ['shard'],
});
const FENCE = { table: FENCE_TABLE, kind: 'append', form: 'columns' } as const;
const NO_FENCE: SectionValues = { texts: emptyParameters(FENCE), count: 0 };
const FENCE_PARAMETERS = NO_FENCE.texts.length + 1;

const quote = (name: string): string => `"${name.replaceAll('"', '""')}"`;
const GUARDED: ReadonlySet<OpKind> = new Set(['insert', 'replace', 'answer']);

/** Whether a refusal names the rows that it is about. Planning for that costs each execution, so only a statement that was refused is sent again with `names`. */
export type Refusal = 'bare' | 'names';

/**
 * Builds the one data-modifying statement of a batch, with a fence for the shards of each schema that it writes.
 * INVARIANT: the fences are the first thing evaluated, as the checks are one sum from left to right; an UPDATE waits for a takeover and then matches no row, and lane_raise takes back everything.
 * The client never decides after the commit (messaging.md section 1).
 */
export function statementText(schemas: readonly string[], sections: readonly Section[], refusal: Refusal): string {
  const withs = schemas.map((schema, index) => fenceText(schema, index));
  const checks = schemas.map((schema, index) => fenceCheck(schema, index, refusal));
  let parameter = FENCE_PARAMETERS * schemas.length + 1;
  sections.forEach((section, index) => {
    const source = rowSource(section, parameter);
    parameter += emptyParameters(section).length;
    withs.push(`w${index} AS (${sectionText(section, source)})`);
    if (!GUARDED.has(section.kind)) return;
    const names = refusal === 'names' ? guardNames(section, source, index) : `''`;
    checks.push(checkText(section.schema, `w${index}`, `$${parameter}::int`, GUARD, names));
    parameter += 1;
  });
  return `WITH ${withs.join(',\n')}\nSELECT ${checks.join('\n+ ')} AS raised, (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS now`;
}

/** Values in the order of the text's parameters. */
export function statementValues(
  fences: readonly (SectionValues | undefined)[],
  sections: readonly Section[],
  valuesOf: (section: Section) => SectionValues | undefined,
): (string | number)[] {
  const list: (string | number)[] = fences.flatMap((fence = NO_FENCE) => [...fence.texts, fence.count]);
  for (const section of sections) {
    const { texts, count } = valuesOf(section) ?? { texts: emptyParameters(section), count: 0 };
    list.push(...texts);
    if (GUARDED.has(section.kind)) list.push(count);
  }
  return list;
}

/** Positions are columns of the shard's row, so that one UPDATE is fence, lock and position at once. */
function fenceText(schema: string, index: number): string {
  return `fence${index} AS (UPDATE ${quote(schema)}.shard AS s SET positions = coalesce(v.positions, s.positions)
    FROM ${fenceSource(index)}
    WHERE s.shard = v.shard AND s.epoch = v.epoch RETURNING s.shard)`;
}

const fenceSource = (index: number): string => rowSource(FENCE, FENCE_PARAMETERS * index + 1);

function fenceCheck(schema: string, index: number, refusal: Refusal): string {
  const names = `(SELECT json_agg(v.shard)::text FROM ${fenceSource(index)} WHERE v.shard NOT IN (SELECT shard FROM fence${index}))`;
  const count = `$${FENCE_PARAMETERS * (index + 1)}::int`;
  return checkText(schema, `fence${index}`, count, FENCED, refusal === 'names' ? names : `''`);
}

/** As many rows as were meant, or the whole statement is taken back. */
function checkText(schema: string, rows: string, count: string, code: string, names: string): string {
  return `CASE WHEN (SELECT count(*) FROM ${rows}) = ${count} THEN 0 ELSE ${quote(schema)}.lane_raise('${code}', ${names}) END`;
}

function sectionText(section: Section, source: string): string {
  const { schema, table, kind } = section;
  const names = sectionColumns(section).map(([name]) => name);
  const target = `${quote(schema)}.${quote(table.name)}`;
  const key = table.key.map(quote).join(', ');
  const insert = `INSERT INTO ${target} (${names.map(quote).join(', ')}) SELECT ${names.map(quote).join(', ')} FROM ${source}`;
  const matching = table.key.map((name) => `t.${quote(name)} = v.${quote(name)}`).join(' AND ');
  const rest = Object.keys(table.columns).filter((name) => !table.key.includes(name));
  switch (kind) {
    case 'append':
      return insert;
    case 'insert':
      return `${insert} ON CONFLICT DO NOTHING RETURNING ${key}`;
    case 'once':
      return `${insert} ON CONFLICT (${key}) DO NOTHING`;
    case 'put':
      return rest.length === 0
        ? `${insert} ON CONFLICT (${key}) DO NOTHING`
        : `${insert} ON CONFLICT (${key}) DO UPDATE SET ${rest.map((name) => `${quote(name)} = EXCLUDED.${quote(name)}`).join(', ')}`;
    case 'replace':
      return `UPDATE ${target} AS t SET ${rest.map((name) => `${quote(name)} = v.${quote(name)}`).join(', ')} FROM ${source}
        WHERE ${matching} AND t.${quote(table.version ?? '')} = v.__expect RETURNING ${table.key.map((name) => `t.${quote(name)}`).join(', ')}`;
    case 'remove':
      return `DELETE FROM ${target} AS t USING ${source} WHERE ${matching}`;
    case 'answer':
      return `UPDATE ${target} AS t SET result = v.result, answered_at = clock_timestamp() FROM ${source}
        WHERE t.id = v.id AND t.result IS NULL RETURNING t.id`;
  }
}

/** Names the rows whose guard failed, so that the lane takes out those inputs and no other. */
function guardNames({ table, id }: Section, source: string, index: number): string {
  const keys = table.key.map(quote);
  const same = keys.map((name) => `w.${name} = v.${name}`).join(' AND ');
  const text = keys.map((name) => `v.${name}::text`).join(', ');
  return `(SELECT json_build_object('section', '${id.replaceAll("'", "''")}', 'keys', json_agg(json_build_array(${text})))::text
    FROM ${source} WHERE NOT EXISTS (SELECT FROM w${index} AS w WHERE ${same}))`;
}
