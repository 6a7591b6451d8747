import { describe, expect, it } from 'vitest';
import { defineTable } from './table.js';
import { TableMarks } from './table-marks.js';

const table = (name: string) => defineTable({ name, columns: { id: 'text' }, key: ['id'] });
const [ONE, OTHER] = [table('one'), table('other')];

describe('the mark of tables', () => {
  it('stays while nothing is written to them', () => {
    const marks = new TableMarks();
    const before = marks.of([ONE]);
    marks.sending([OTHER]);
    expect(marks.of([ONE])).toBe(before);
  });

  it.each([
    ['rows of one of them are sent', (marks: TableMarks) => marks.sending([ONE])],
    ['shards are taken', (marks: TableMarks) => marks.taken()],
  ])('changes when %s', (_, happen) => {
    const marks = new TableMarks();
    const before = marks.of([OTHER, ONE]);
    happen(marks);
    expect(marks.of([OTHER, ONE])).not.toBe(before);
  });
});
