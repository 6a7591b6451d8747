import { describe, expect, it } from 'vitest';
import { columnParameters, jsonParameters, rowSource, sectionColumns } from './row-source.js';
import { defineTable, type Row } from './table.js';

const TABLE = defineTable({
  name: 't',
  columns: { id: 'text', n: 'bigint', on: 'boolean', at: 'timestamptz', doc: 'jsonb', raw: 'text', list: 'text[]' },
  key: ['id'],
  version: 'n',
});
const COLUMNS = sectionColumns({ table: TABLE, kind: 'put' });

const sent = (...rows: Row[]) => rows.map((row) => ({ row, expect: undefined }));
const full = {
  id: 'a"b',
  n: 9_007_199_254_740_993n,
  on: true,
  at: new Date(0),
  doc: { a: 1 },
  raw: '{"b":1,  "a":2}',
  list: ['x', 'y,"'],
};

describe('rows as JSON', () => {
  it('keep every value as its type needs it', () => {
    expect(jsonParameters(COLUMNS, sent(full))).toEqual([
      '[{"id":"a\\"b","n":9007199254740993,"on":true,"at":"1970-01-01T00:00:00.000Z","doc":{"a":1},"raw":"{\\"b\\":1,  \\"a\\":2}","list":["x","y,\\""]}]',
    ]);
  });

  it('leave out what is null or undefined', () => {
    expect(jsonParameters(COLUMNS, sent({ id: 'a', n: null, on: undefined }))).toEqual(['[{"id":"a"}]']);
  });

  it('do not let a text in a number column add columns', () => {
    const [text] = jsonParameters(COLUMNS, sent({ id: 'a', n: '1,"on":true' }));
    expect(JSON.parse(text ?? '')).toEqual([{ id: 'a', n: '1,"on":true' }]);
  });

  it('name the version that a replaced row must have', () => {
    const columns = sectionColumns({ table: TABLE, kind: 'replace' });
    expect(jsonParameters(columns, [{ row: { id: 'a', n: 2 }, expect: 1 }])).toEqual([
      '[{"id":"a","n":2,"__expect":1}]',
    ]);
  });
});

describe('rows as columns', () => {
  it('join texts without escaping and write numbers and times as arrays', () => {
    expect(columnParameters(COLUMNS, sent(full, { id: 'c' }))).toEqual([
      'a"b\u001ec',
      '{9007199254740993,NULL}',
      '{true,NULL}',
      '{"1970-01-01T00:00:00.000Z",NULL}',
      '{"a":1}\u001e\u001f',
      '{"b":1,  "a":2}\u001e\u001f',
      'x\u001dy,"\u001e\u001f',
    ]);
  });

  it.each([
    ['a text holds the separator', { id: 'a\u001eb', doc: 1, raw: '1' }],
    ['a text is what stands for null', { id: '\u001f', doc: 1, raw: '1' }],
    ['the only text is empty', { id: '', doc: 1, raw: '1' }],
    ['a number column holds a text', { id: 'a', n: '1,2', doc: 1, raw: '1' }],
    ['a text column holds a number', { id: 1, doc: 1, raw: '1' }],
    ['an entry of a list holds a separator', { id: 'a', doc: 1, raw: '1', list: ['x\u001dy'] }],
    ['an entry of a list is what stands for null', { id: 'a', doc: 1, raw: '1', list: ['\u001f'] }],
    ['an entry of a list is no text', { id: 'a', doc: 1, raw: '1', list: [null] }],
    ['a list holds one empty text', { id: 'a', doc: 1, raw: '1', list: [''] }],
  ])('cannot be sent when %s', (_name, row) => {
    expect(columnParameters(COLUMNS, sent(row))).toBeUndefined();
  });

  it('are split by the database', () => {
    expect(rowSource({ table: TABLE, kind: 'remove', form: 'columns' }, 3)).toBe(
      '(SELECT unnest(string_to_array($3::text, chr(30), chr(31))) AS "id") AS v',
    );
  });
});
