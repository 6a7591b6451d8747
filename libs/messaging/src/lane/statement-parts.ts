import { withoutReadPositions } from './published-positions.js';
import { RowJson } from './row-json.js';
import type { Shard } from './shard.js';
import type { Section, SectionValues } from './statement.js';
import type { OpKind, TableFold } from './table-fold.js';
import type { TableSpec } from './table.js';

interface Part {
  readonly section: Section;
  readonly json: RowJson;
}

type Marks = ReadonlyMap<Shard, ReadonlyMap<string, bigint>>;

/** Turns what a batch wants written into the parts of its statement and their JSON. */
export class StatementParts {
  readonly #known = new Map<TableSpec, Map<OpKind, Part>>();

  constructor(private readonly schema: string) {}

  /** Sections in a fixed order, so that equal shapes are found again. Rows are sorted by key, so that two statements lock them in the same order. */
  of(folds: Iterable<TableFold>): { sections: Section[]; values: Map<string, SectionValues> } {
    const texts = new Map<Part, { rows: string; count: number }>();
    for (const { table, ops } of folds)
      for (const [, { kind, row, expect }] of sorted(ops)) {
        const part = this.#part(table, kind);
        const text = part.json.write(row, expect);
        const values = texts.get(part);
        if (values === undefined) texts.set(part, { rows: `[${text}`, count: 1 });
        else {
          values.rows += `,${text}`;
          values.count += 1;
        }
      }
    const sections: Section[] = [];
    const values = new Map<string, SectionValues>();
    for (const [{ section }, { rows, count }] of texts) {
      sections.push(section);
      values.set(section.id, { rows: `${rows}]`, count });
    }
    return { sections: sections.sort((a, b) => (a.id < b.id ? -1 : 1)), values };
  }

  #part(table: TableSpec, kind: OpKind): Part {
    let kinds = this.#known.get(table);
    if (kinds === undefined) this.#known.set(table, (kinds = new Map()));
    let part = kinds.get(kind);
    if (part !== undefined) return part;
    const section = { id: `${table.name}/${kind}`, schema: this.schema, table, kind };
    part = { section, json: new RowJson(table) };
    kinds.set(kind, part);
    return part;
  }
}

/** Appended rows are new: nobody else can hold them, and they stay in order. */
function sorted<T extends { readonly kind: OpKind }>(ops: ReadonlyMap<string, T>): Iterable<[string, T]> {
  const [first] = ops.values();
  if (ops.size < 2 || first?.kind === 'append') return ops;
  return [...ops].sort(([a], [b]) => (a < b ? -1 : 1));
}

/** One row per touched shard: its epoch, and its positions where they change. */
export function fenceValues(
  touched: ReadonlySet<Shard>,
  moved: Marks,
  published: Marks,
  keepsPositions: boolean,
): SectionValues {
  let rows = '';
  for (const shard of [...touched].sort((a, b) => a.id - b.id)) {
    const kept = keepsPositions ? shard.positions : withoutReadPositions(shard.positions);
    const positions = positionsJson(kept, moved.get(shard), published.get(shard));
    rows += `${rows === '' ? '[' : ','}{"shard":${shard.id},"epoch":${shard.epoch},"positions":${positions}}`;
  }
  return { rows: `${rows}]`, count: touched.size };
}

function positionsJson(
  positions: ReadonlyMap<string, bigint>,
  moved: ReadonlyMap<string, bigint> | undefined,
  published: ReadonlyMap<string, bigint> | undefined,
): string {
  if (moved === undefined && published === undefined) return 'null';
  let text = '';
  for (const [name, next] of positions)
    if (moved?.has(name) !== true && published?.has(name) !== true) text += `,"${name}":${next}`;
  for (const marks of [moved, published]) for (const [name, next] of marks ?? []) text += `,"${name}":${next}`;
  return `{${text.slice(1)}}`;
}
