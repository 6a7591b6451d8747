import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { plainValue } from './plain-value.js';
import { safeAttributes } from './safe-attributes.js';

const cycle: Record<string, unknown> = { name: 'loop' };
cycle.self = cycle;
const throwing = {
  fine: 1,
  get bad(): never {
    throw new Error('getter');
  },
};
const hostile: readonly (readonly [string, unknown])[] = [
  ['a BigInt', { n: 12345678901234567890n }],
  ['a cycle', cycle],
  ['a throwing getter', throwing],
  ['a toJSON that throws', { toJSON: () => Promise.reject(new Error('no')) }],
  ['an invalid date', { at: new Date(Number.NaN) }],
  ['a huge string', { text: 'x'.repeat(30_000_000) }],
  ['a huge list', Array.from({ length: 1_000_000 }, (_, at) => at)],
  ['a deep tree', Array.from({ length: 10_000 }).reduce<object>((inner) => ({ inner }), {})],
  ['a revoked proxy', { proxy: revoked() }],
  [
    'a proxy whose traps throw',
    new Proxy(
      {},
      {
        ownKeys: () => {
          throw new Error('trap');
        },
      },
    ),
  ],
  ['lone surrogates', { text: '\ud800' }],
  ['a symbol and a function', { s: Symbol('s'), f: () => 1 }],
  ['binary data', { bytes: new Uint8Array(1_000_000) }],
  ['maps and sets', { map: new Map([[{}, cycle]]), set: new Set([cycle]) }],
  ['no prototype', Object.assign(Object.create(null) as object, { a: 1 })],
];

function revoked(): object {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  return proxy;
}

describe('plainValue', () => {
  it.each(hostile)('makes small valid JSON of %s', (_, value) => {
    const text = JSON.stringify(plainValue(value));
    expect(text.length).toBeLessThan(10_000);
    expect(JSON.parse(text)).toEqual(plainValue(value));
    expect(() => JSON.stringify(safeAttributes({ value }))).not.toThrow();
  });

  it('marks what it left out, with the true size', () => {
    expect(plainValue({ text: 'abcdef' }, { maxChars: 7 })).toEqual({ text: 'abc[cut, 6 characters]' });
    expect(plainValue([1, 2, 3], { maxEntries: 2 })).toEqual([1, 2, '[cut, 3 entries]']);
    expect(plainValue({ a: 1, b: 2, c: 3 }, { maxEntries: 2 })).toEqual({ a: 1, b: 2, '[cut]': '3 keys' });
    expect(plainValue({ a: { b: { c: 1 } } }, { maxDepth: 2 })).toEqual({ a: { b: '[too deep]' } });
    expect(plainValue(cycle)).toEqual({ name: 'loop', self: '[cycle]' });
    expect(plainValue(throwing)).toEqual({ fine: 1, bad: '[unreadable]' });
  });

  it('shows the same object twice when it is no cycle', () => {
    const shared = { n: 1 };
    expect(plainValue([shared, shared])).toEqual([{ n: 1 }, { n: 1 }]);
  });

  it.each([
    'authorization',
    'Authorization',
    'password',
    'PGPASSWORD',
    'client_secret',
    'apiKey',
    'api-key',
    'token',
    'access_token',
    'accessToken',
    'Cookie',
    'privateKey',
  ])('replaces the value of `%s`', (key) => {
    expect(plainValue({ nested: [{ [key]: 'hunter2' }] })).toEqual({ nested: [{ [key]: '[redacted]' }] });
  });

  it.each(['tokens', 'inputTokens', 'authorizationId', 'tokenType', 'key'])('keeps the value of `%s`', (key) => {
    expect(plainValue({ [key]: 'shown' })).toEqual({ [key]: 'shown' });
  });

  it('gives an error with its fields and cause', () => {
    const error = Object.assign(new TypeError('bad', { cause: new Error('why') }), { code: 'E1', token: 'hunter2' });
    expect(plainValue(error)).toMatchObject({
      type: 'TypeError',
      message: 'bad',
      code: 'E1',
      token: '[redacted]',
      cause: { message: 'why' },
    });
  });

  it('keeps any small JSON value as it is', () => {
    const small = fc.jsonValue({ maxDepth: 3, stringUnit: 'grapheme' });
    fc.assert(
      fc.property(small, (value) => {
        const text = JSON.stringify(value);
        fc.pre(text.length < 2_000 && !/token|secret|cookie|passw/i.test(text));
        expect(JSON.stringify(plainValue(value, { maxEntries: 1_000 }))).toBe(text);
      }),
    );
  });
});

describe('safeAttributes', () => {
  it('keeps scalars and lists of text, makes JSON text of the rest', () => {
    const values = {
      text: 'a',
      count: 2,
      ok: true,
      list: ['a', 'b'],
      object: { a: [1] },
      missing: undefined,
      big: 5n,
      token: 'x',
    };
    expect(safeAttributes(values)).toEqual({
      text: 'a',
      count: 2,
      ok: true,
      list: ['a', 'b'],
      object: '{"a":[1]}',
      big: '5',
      token: '[redacted]',
    });
  });
});
