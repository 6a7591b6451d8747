import { withoutReadPositions } from './published-positions.js';
import {
  arrayText,
  columnParameters,
  joinTexts,
  jsonParameters,
  type RowForm,
  sectionColumns,
  type SentRow,
} from './row-source.js';
import type { Shard } from './shard.js';
import type { Section, SectionValues } from './statement.js';
import type { OpKind, TableFold } from './table-fold.js';
import type { TableSpec } from './table.js';

type Marks = ReadonlyMap<Shard, ReadonlyMap<string, bigint>>;
type Columns = ReturnType<typeof sectionColumns>;

/** What a statement does beside its fence. */
export interface StatementBody {
  readonly sections: readonly Section[];
  readonly values: ReadonlyMap<Section, SectionValues>;
}

interface Part {
  readonly columns: Columns;
  readonly sections: ReadonlyMap<RowForm, Section>;
}

/** Turns what a batch wants written into the parts of its statement and their parameters. */
export class StatementParts {
  readonly #known = new Map<TableSpec, Map<OpKind, Part>>();

  constructor(private readonly schema: string) {}

  /** Sections in a fixed order, so that equal shapes are found again. Rows are sorted by key, so that two statements lock them in the same order. */
  of(folds: Iterable<TableFold>): StatementBody {
    const rows = new Map<Part, SentRow[]>();
    for (const { table, ops } of folds)
      for (const op of sorted(ops)) {
        const part = this.#part(table, op.kind);
        const list = rows.get(part);
        if (list === undefined) rows.set(part, [op]);
        else list.push(op);
      }
    const sections: Section[] = [];
    const values = new Map<Section, SectionValues>();
    for (const [{ columns, sections: forms }, list] of rows) {
      const asColumns = columnParameters(columns, list);
      const section = forms.get(asColumns === undefined ? 'json' : 'columns');
      if (section === undefined) continue;
      sections.push(section);
      values.set(section, { texts: asColumns ?? jsonParameters(columns, list), count: list.length });
    }
    return { sections: sections.sort((a, b) => (a.id < b.id ? -1 : 1)), values };
  }

  #part(table: TableSpec, kind: OpKind): Part {
    let kinds = this.#known.get(table);
    if (kinds === undefined) this.#known.set(table, (kinds = new Map()));
    let part = kinds.get(kind);
    if (part !== undefined) return part;
    const base = { schema: this.schema, table, kind };
    const id = `${table.name}/${kind}`;
    part = {
      columns: sectionColumns(base),
      sections: new Map([
        ['json', { ...base, id, form: 'json' }],
        ['columns', { ...base, id: `${id}/columns`, form: 'columns' }],
      ]),
    };
    kinds.set(kind, part);
    return part;
  }
}

/** Appended rows are new: nobody else can hold them, and they stay in order. */
function sorted<T extends { readonly kind: OpKind }>(ops: ReadonlyMap<string, T>): Iterable<T> {
  const [first] = ops.values();
  if (ops.size < 2 || first?.kind === 'append') return ops.values();
  return [...ops].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, op]) => op);
}

/** One row per touched shard: its epoch, and its positions where they change. */
export function fenceValues(
  touched: ReadonlySet<Shard>,
  moved: Marks,
  published: Marks,
  keepsPositions: boolean,
): SectionValues {
  const shards = [...touched].sort((a, b) => a.id - b.id);
  const positions = shards.map((shard) => {
    const kept = keepsPositions ? shard.positions : withoutReadPositions(shard.positions);
    return positionsJson(kept, moved.get(shard), published.get(shard));
  });
  const texts = [
    arrayText(shards.map(({ id }) => id)),
    arrayText(shards.map(({ epoch }) => epoch)),
    joinTexts(positions),
  ];
  return { texts, count: shards.length };
}

function positionsJson(
  positions: ReadonlyMap<string, bigint>,
  moved: ReadonlyMap<string, bigint> | undefined,
  published: ReadonlyMap<string, bigint> | undefined,
): string | null {
  if (moved === undefined && published === undefined) return null;
  let text = '';
  for (const [name, next] of positions)
    if (moved?.has(name) !== true && published?.has(name) !== true) text += `,"${name}":${next}`;
  for (const marks of [moved, published]) for (const [name, next] of marks ?? []) text += `,"${name}":${next}`;
  return `{${text.slice(1)}}`;
}
