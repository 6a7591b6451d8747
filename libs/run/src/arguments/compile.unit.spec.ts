import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compileArguments } from './compile.js';

type Schema = Readonly<Record<string, unknown>>;

const object = (properties: Schema, more: Schema = {}): Schema => ({ type: 'object', properties, ...more });

function texts(schema: Schema, value: Readonly<Record<string, unknown>>): string[] {
  const compiled = compileArguments(schema);
  if (!compiled.usable) throw new Error(compiled.reason);
  return compiled.check(value).map(({ text }) => text);
}

const reasonOf = (schema: Schema): string => {
  const compiled = compileArguments(schema);
  return compiled.usable ? 'usable' : compiled.reason;
};

describe('argument problems', () => {
  const post = object(
    {
      supplier: { type: 'string', pattern: '^S-\\d+$' },
      amount_cents: { type: 'integer', minimum: 1 },
      currency: { enum: ['EUR', 'USD'] },
      lines: { type: 'array', items: object({ qty: { type: 'integer' } }) },
    },
    { required: ['supplier', 'amount_cents'], additionalProperties: false },
  );

  it('B01: names a missing argument and its type', () => {
    expect(texts(post, { supplier: 'S-1' })).toEqual(['`amount_cents` is missing; expected integer']);
  });

  it('names an unknown argument with the nearest one, or all', () => {
    const good = { supplier: 'S-1', amount_cents: 1 };
    expect(texts(post, { ...good, suplier: 'x' })).toEqual([
      '`suplier` is not an argument of this tool; did you mean `supplier`?',
    ]);
    expect(texts(post, { ...good, zzzzzz: 1 })).toEqual([
      '`zzzzzz` is not an argument of this tool; it takes `supplier`, `amount_cents`, `currency`, `lines`',
    ]);
    expect(texts(object({}, { additionalProperties: false }), { a: 1 })).toEqual([
      '`a` is not an argument of this tool; it takes none',
    ]);
  });

  it('tells all problems at once: type, pattern, range, enum, nested place', () => {
    expect(
      texts(post, { supplier: 'ACME', amount_cents: -5, currency: 'GBP', lines: [{ qty: 1 }, { qty: 'two' }] }),
    ).toEqual([
      '`supplier`: expected text that matches `^S-\\d+$`, seen string `"ACME"`',
      '`amount_cents`: expected a number >= 1, seen number `-5`',
      '`currency`: expected one of `"EUR"`, `"USD"`, seen string `"GBP"`',
      '`lines[1].qty`: expected integer, seen string `"two"`',
    ]);
  });

  it('stops after ten problems', () => {
    const value = Object.fromEntries(Array.from({ length: 30 }, (_, i) => [`extra${i}`, i]));
    expect(texts(object({}, { additionalProperties: false }), value).at(-1)).toBe('and 20 more');
  });

  it('formats are checked', () => {
    expect(texts(object({ day: { type: 'string', format: 'date' } }), { day: '31.12.2026' })).toEqual([
      '`day`: expected date, seen string `"31.12.2026"`',
    ]);
  });
});

describe('B03, B04: no coercion of any kind', () => {
  const values = [
    '5',
    'true',
    'false',
    '',
    '0x10',
    'null',
    '[1]',
    true,
    false,
    null,
    [],
    [5],
    {},
    5,
    5.5,
    5.0,
    '00123',
  ];
  const accepted: Record<string, (value: unknown) => boolean> = {
    integer: (value) => Number.isInteger(value),
    number: (value) => typeof value === 'number',
    boolean: (value) => typeof value === 'boolean',
    string: (value) => typeof value === 'string',
  };
  const spellings: Record<string, (type: string) => { readonly schema: Schema; readonly nullable: boolean }> = {
    plain: (type) => ({ schema: { type }, nullable: false }),
    'anyOf with null': (type) => ({ schema: { anyOf: [{ type }, { type: 'null' }] }, nullable: true }),
    'oneOf with null': (type) => ({ schema: { oneOf: [{ type }, { type: 'null' }] }, nullable: true }),
    'list of types': (type) => ({ schema: { type: [type, 'null'] }, nullable: true }),
  };

  it.each(Object.keys(accepted).flatMap((type) => Object.keys(spellings).map((spelling) => [type, spelling])))(
    '%s, spelled %s',
    (type = '', spelling = '') => {
      const spelled = spellings[spelling]?.(type);
      for (const value of values) {
        const right = accepted[type]?.(value) === true || (spelled?.nullable === true && value === null);
        const copy: unknown = structuredClone(value);
        expect([value, texts(object({ x: spelled?.schema }), { x: value }).length]).toEqual([copy, right ? 0 : 1]);
      }
    },
  );

  it('says what a nullable type expects in one line', () => {
    expect(texts(object({ limit: { anyOf: [{ type: 'integer' }, { type: 'null' }] } }), { limit: '5' })).toEqual([
      '`limit`: expected integer or null, seen string `"5"`',
    ]);
  });

  it('sets no defaults', () => {
    const value = {};
    texts(object({ limit: { type: 'integer', default: 20 } }), value);
    expect(value).toEqual({});
  });
});

describe('B05: references', () => {
  const withDefs = (defs: string): Schema => ({
    ...object({ query: { $ref: `#/${defs}/Q` } }, { required: ['query'] }),
    [defs]: { Q: object({ limit: { type: 'integer' } }) },
  });

  it.each(['$defs', 'definitions'])('follows %s of the same document', (defs) => {
    expect(texts(withDefs(defs), { query: { limit: 1 } })).toEqual([]);
    expect(texts(withDefs(defs), { query: { limit: 'x' } })).toHaveLength(1);
  });

  it('follows recursive ones, also in data that the schema loops on', () => {
    const tree: Schema = {
      ...object({ root: { $ref: '#/$defs/Node' } }),
      $defs: {
        Node: object({ children: { type: 'array', items: { $ref: '#/$defs/Node' } } }, { additionalProperties: false }),
      },
    };
    expect(texts(tree, { root: { children: [{ children: [] }, { childs: [] }] } })).toHaveLength(1);
    expect(texts({ $ref: '#/$defs/l', $defs: { l: { type: 'object', allOf: [{ $ref: '#/$defs/l' }] } } }, {})).toEqual([
      'the schema of this tool cannot be evaluated for these arguments',
    ]);
  });

  it.each<[Schema, RegExp]>([
    [object({ a: { $ref: '#/$defs/None' } }), /can't resolve reference/],
    [object({ a: { $ref: 'http://127.0.0.1:9/x.json' } }), /leaves the document/],
    [object({ a: { $ref: 'other.json#/x' } }), /leaves the document/],
    [object({ a: { $id: 'http://x/y', type: 'string' } }), /nested `\$id`/],
    [{ $schema: 'http://example.com/own', type: 'object' }, /unknown dialect/],
    [{ $async: true, type: 'object' }, /\$async/],
    [object({ a: { type: 'strnig' } }), /./],
    [object({ a: { type: 'string', pattern: '(?=look)ahead' } }), /unsupported|invalid/],
    [object({ a: { type: 'string', pattern: '(a)\\1' } }), /invalid escape/],
  ])('makes %j unusable, with the reason', (schema, reason) => {
    expect(reasonOf(schema)).toMatch(reason);
  });

  it('takes arguments that are called like keywords, and documents with an $id', () => {
    expect(
      texts(
        {
          $id: 'x',
          $schema: 'http://json-schema.org/draft-07/schema#',
          ...object({ $ref: { type: 'string' }, $id: { type: 'string' } }),
        },
        { $ref: 'http://x' },
      ),
    ).toEqual([]);
    expect(reasonOf({ $id: 'x', type: 'object' })).toBe('usable');
  });
});

describe('hostile schemas and values', () => {
  it('matches patterns in linear time', () => {
    const schema = object({ a: { type: 'string', pattern: '^(?:(?:a+)+)+$' } });
    const started = process.cpuUsage();
    expect(texts(schema, { a: `${'a'.repeat(20_000)}b` })).toHaveLength(1);
    expect(process.cpuUsage(started).user).toBeLessThan(2_000_000);
  });

  it('B07: `__proto__` is an unknown argument where the tool takes no others, and plain data where it does', () => {
    const value = JSON.parse('{"__proto__":{"isAdmin":true}}') as Record<string, unknown>;
    expect(texts(object({ note: { type: 'string' } }, { additionalProperties: false }), value)).toHaveLength(1);
    expect(texts(object({ note: { type: 'string' } }), value)).toEqual([]);
    expect(texts(object({}, { required: ['constructor'] }), {})).toEqual(['`constructor` is missing']);
    expect(texts(object({ constructor: { type: 'string' } }), {})).toEqual([]);
  });

  it('never throws: a schema is usable or has a reason', () => {
    const keyword = fc.constantFrom(
      'type',
      'properties',
      'items',
      'anyOf',
      '$ref',
      'pattern',
      'required',
      '$defs',
      'enum',
      'minimum',
      'not',
    );
    const value = fc.oneof(
      fc.constantFrom('object', 'string', '#', '#/$defs/a', '(', 5, null, true),
      fc.jsonValue({ maxDepth: 2 }),
    );
    fc.assert(
      fc.property(
        fc.dictionary(keyword, value),
        fc.dictionary(fc.string(), fc.jsonValue()),
        (schema, argumentsValue) => {
          const compiled = compileArguments(schema);
          const said = compiled.usable
            ? compiled.check(argumentsValue).every(({ text }) => text !== '')
            : compiled.reason !== '';
          expect(said).toBe(true);
        },
      ),
      { numRuns: 300 },
    );
  });

  it('compiles equal schemas once', () => {
    const schema = object({ once: { type: 'string' } });
    expect(compileArguments(schema)).toBe(compileArguments(structuredClone(schema)));
    expect(compileArguments(schema)).toBe(compileArguments(schema));
  });
});
