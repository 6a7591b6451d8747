import { ConflictError, InvariantViolationError } from '@lineclear/errors';
import type { Row, TableSpec } from './table.js';

/**
 * `append`: plain insert; `insert`: guarded, the row must be absent; `once`: absent or ignored; `put`: written whole; `replace`: guarded by the
 * version it must have; `remove`; `answer`: sets a mailbox row's result, guarded by not having one.
 */
export type OpKind = 'append' | 'insert' | 'once' | 'put' | 'replace' | 'remove' | 'answer';

export interface Op<W = unknown> {
  readonly kind: OpKind;
  readonly row: Row;
  /** of `replace`: the version that the row must have now */
  readonly expect: number | undefined;
  /** works whose fragments made this op, to find them again when its guard fails */
  readonly works: readonly W[];
}

/** Separates the parts of a composed key. */
const SEPARATOR = '\u001f';

export function keyText(table: TableSpec, row: Row): string {
  const [first, ...rest] = table.key;
  let text = part(row[first ?? '']);
  for (const column of rest) text += SEPARATOR + part(row[column]);
  return text;
}

function part(value: unknown): string {
  return typeof value === 'string' ? value : String(value);
}

/** One net operation per key of one table. */
export class TableFold<W = unknown> {
  readonly ops = new Map<string, Op<W>>();

  constructor(readonly table: TableSpec) {}

  /**
   * Folds one more operation and returns what takes it back.
   * @throws ConflictError `version-moved` where the two could not both succeed one after the other
   */
  add(kind: OpKind, row: Row, work: W, expect?: number): () => void {
    const key = keyText(this.table, row);
    const first = this.ops.get(key);
    if (first === undefined) {
      this.ops.set(key, { kind, row, expect, works: [work] });
      return () => this.ops.delete(key);
    }
    this.ops.set(key, { ...this.#fold(key, first, { kind, row, expect }), works: [...first.works, work] });
    return () => this.ops.set(key, first);
  }

  #fold(key: string, first: Op<W>, next: Omit<Op<W>, 'works'>): Omit<Op<W>, 'works'> {
    const { kind, row } = next;
    if (first.kind === 'answer' || kind === 'answer' || kind === 'append')
      throw new InvariantViolationError(
        'invariant-violated',
        `row \`${key}\` of \`${this.table.name}\` is written twice`,
      );
    if (kind === 'remove') return { kind, row, expect: undefined };
    if (kind === 'once') return first.kind === 'remove' ? { kind: 'put', row, expect: undefined } : first;
    if (kind === 'insert') return first.kind === 'remove' ? { kind: 'put', row, expect: undefined } : this.#refuse(key);
    if (kind === 'replace' && !this.#hasVersion(first, next.expect)) return this.#refuse(key);
    // whether `once` finds the row absent is only known in the statement: as a guarded insert it is right if it does, and taken out if not
    if (kind === 'replace' && first.kind === 'once') return { kind: 'insert', row, expect: undefined };
    if (first.kind === 'insert' || first.kind === 'replace') return { kind: first.kind, row, expect: first.expect };
    return { kind: 'put', row, expect: undefined };
  }

  #hasVersion(first: Op<W>, expect: number | undefined): boolean {
    const { version } = this.table;
    return version !== undefined && first.kind !== 'remove' && first.row[version] === expect;
  }

  #refuse(key: string): never {
    throw new ConflictError(
      'version-moved',
      `row \`${key}\` of \`${this.table.name}\` is written by an earlier input of the batch`,
    );
  }
}
