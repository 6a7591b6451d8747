import { describe, expect, it } from 'vitest';
import { RowJson } from './row-json.js';
import { defineTable } from './table.js';

const TABLE = defineTable({
  name: 't',
  columns: {
    id: 'text',
    n: 'bigint',
    on: 'boolean',
    at: 'timestamptz',
    doc: 'jsonb',
    raw: 'json-text',
    list: 'text[]',
  },
  key: ['id'],
});

describe('a row as JSON', () => {
  it('keeps every value as its type needs it, and json-text byte for byte', () => {
    const row = { id: 'a"b', n: 9_007_199_254_740_993n, on: true, at: new Date(0), doc: { a: 1 }, list: ['x', '"'] };
    expect(new RowJson(TABLE).write({ ...row, raw: '{"b":1,  "a":2}' }, 3)).toBe(
      '{"__expect":3,"id":"a\\"b","n":9007199254740993,"on":true,"at":"1970-01-01T00:00:00.000Z","doc":{"a":1},"raw":{"b":1,  "a":2},"list":["x","\\""]}',
    );
  });

  it('leaves out what is null or undefined', () => {
    expect(new RowJson(TABLE).write({ id: 'a', n: null, on: undefined }, undefined)).toBe('{"id":"a"}');
  });

  it('does not let a text in a number column add columns', () => {
    expect(JSON.parse(new RowJson(TABLE).write({ id: 'a', n: '1,"on":true' }, undefined))).toEqual({
      id: 'a',
      n: '1,"on":true',
    });
  });
});
