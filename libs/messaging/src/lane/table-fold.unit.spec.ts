import { describe, expect, it } from 'vitest';
import { type OpKind, TableFold } from './table-fold.js';
import { defineTable, type Row } from './table.js';

const TABLE = defineTable({
  name: 't',
  columns: { id: 'text', v: 'int', version: 'int' },
  key: ['id'],
  version: 'version',
});

type Step = readonly [kind: OpKind, version: number, expect?: number];

const row = (version: number): Row => ({ id: 'a', v: version * 10, version });

function folded(steps: readonly Step[]) {
  const fold = new TableFold<string>(TABLE);
  steps.forEach(([kind, version, expected], index) => void fold.add(kind, row(version), `work-${index}`, expected));
  const op = fold.ops.get('a');
  return [op?.kind, op?.row['version'], op?.expect];
}

describe('folding two operations on one row', () => {
  it.each<[readonly Step[], readonly [OpKind, number, number?]]>([
    [
      [
        ['insert', 1],
        ['put', 2],
      ],
      ['insert', 2],
    ],
    [
      [
        ['insert', 1],
        ['replace', 2, 1],
      ],
      ['insert', 2],
    ],
    [
      [
        ['insert', 1],
        ['once', 2],
      ],
      ['insert', 1],
    ],
    [
      [
        ['insert', 1],
        ['remove', 2],
      ],
      ['remove', 2],
    ],
    [
      [
        ['once', 1],
        ['once', 2],
      ],
      ['once', 1],
    ],
    [
      [
        ['once', 1],
        ['put', 2],
      ],
      ['put', 2],
    ],
    [
      [
        ['once', 1],
        ['replace', 2, 1],
      ],
      ['insert', 2],
    ],
    [
      [
        ['put', 1],
        ['put', 2],
      ],
      ['put', 2],
    ],
    [
      [
        ['put', 1],
        ['replace', 2, 1],
      ],
      ['put', 2],
    ],
    [
      [
        ['put', 1],
        ['once', 2],
      ],
      ['put', 1],
    ],
    [
      [
        ['replace', 2, 1],
        ['replace', 3, 2],
      ],
      ['replace', 3, 1],
    ],
    [
      [
        ['replace', 2, 1],
        ['put', 3],
      ],
      ['replace', 3, 1],
    ],
    [
      [
        ['remove', 1],
        ['insert', 2],
      ],
      ['put', 2],
    ],
    [
      [
        ['remove', 1],
        ['once', 2],
      ],
      ['put', 2],
    ],
    [
      [
        ['remove', 1],
        ['remove', 2],
      ],
      ['remove', 2],
    ],
  ])('%j gives %j', (steps, [kind, version, expected]) => {
    expect(folded(steps)).toEqual([kind, version, expected]);
  });

  it.each<[readonly Step[]]>([
    [
      [
        ['insert', 1],
        ['insert', 2],
      ],
    ],
    [
      [
        ['once', 1],
        ['insert', 2],
      ],
    ],
    [
      [
        ['put', 1],
        ['insert', 2],
      ],
    ],
    [
      [
        ['insert', 1],
        ['replace', 3, 2],
      ],
    ],
    [
      [
        ['replace', 2, 1],
        ['replace', 3, 1],
      ],
    ],
    [
      [
        ['remove', 1],
        ['replace', 3, 2],
      ],
    ],
  ])('%j is refused, as the second would be after the first', (steps) => {
    expect(() => folded(steps)).toThrow(expect.objectContaining({ code: 'version-moved' }));
  });

  it('remembers whose each operation is, and can take the last one back', () => {
    const fold = new TableFold<string>(TABLE);
    fold.add('insert', row(1), 'first');
    const back = fold.add('put', row(2), 'second');
    expect(fold.ops.get('a')?.works).toEqual(['first', 'second']);
    back();
    expect(fold.ops.get('a')).toMatchObject({ kind: 'insert', works: ['first'], row: { version: 1 } });
  });
});
