import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readArguments } from './arguments-text.js';
import { findLossyNumber } from './lossy-number.js';

const fault = (raw: string): string => {
  const read = readArguments(raw);
  return read.ok ? `accepted ${JSON.stringify(read.value)}` : read.text;
};

describe('arguments text', () => {
  it.each(['', '   ', 'null', '{}'])('B01: reads %j as no arguments', (raw) => {
    expect(readArguments(raw)).toEqual({ ok: true, value: {} });
  });

  it.each(['{"{"tagIds":["t1"]}', '{"a":1,}', '{"a":1}{"a":1}', 'NaN', '{a:1}', "{'a':1}"])(
    'B02: refuses %j, never repairs it',
    (raw) => {
      expect(fault(raw)).toMatch(/^the arguments are not valid JSON/);
    },
  );

  it.each([
    ['"text"', 'a string'],
    ['[1]', 'an array'],
    ['5', 'a number'],
    ['true', 'a boolean'],
  ])('B02: refuses %s, which is no object', (raw, seen) => {
    expect(fault(raw)).toBe(`the arguments must be one JSON object, seen ${seen}`);
  });

  it.each(['2512292042121000001', '9007199254740993', '1e400', '1e-400', '0.1000000000000000055', '-9007199254740993'])(
    'B06: refuses the number %s, which a double would round',
    (number) => {
      expect(fault(`{"deep":[{"id":${number}}]}`)).toBe(
        `the number \`${number}\` cannot be held exactly; send it as a string`,
      );
    },
  );

  it.each(['-0', '0.1', '1.10', '1e21', '9007199254740992', '1E+2', '100000000000000000000', '0.000', '0e5', '5.0'])(
    'B06: takes the number %s, which a double holds',
    (number) => {
      expect(readArguments(`{"id":${number}}`)).toEqual({ ok: true, value: { id: Number(number) } });
    },
  );

  it('B06: takes long digits inside text', () => {
    expect(findLossyNumber('{"id":"2512292042121000001","9007199254740993":1}')).toBeUndefined();
  });

  it('agrees with exact decimal comparison on random numbers', () => {
    const digits = fc.bigInt({ min: -(10n ** 22n), max: 10n ** 22n });
    fc.assert(
      fc.property(digits, fc.integer({ min: -30, max: 30 }), (whole, exponent) => {
        const literal = exponent === 0 ? String(whole) : `${whole}e${exponent}`;
        const value = Number(literal);
        const [mantissa = '', shown = '0'] = value.toExponential().split('e');
        const [a = '', b = ''] = mantissa.split('.');
        const back = BigInt(a + b) * 10n ** BigInt(60 + Number(shown) - b.length);
        const exact = back === whole * 10n ** BigInt(60 + exponent);
        expect(findLossyNumber(`[${literal}]`)).toBe(exact ? undefined : literal);
      }),
    );
  });

  it('B07: keeps unsafe keys as own plain data and pollutes nothing', () => {
    const read = readArguments('{"__proto__":{"isAdmin":true},"constructor":{"prototype":{"role":"admin"}}}');
    expect(read.ok && Object.keys(read.value)).toEqual(['__proto__', 'constructor']);
    expect(read.ok && Object.getPrototypeOf(read.value)).toBe(Object.prototype);
    expect(({} as Record<string, unknown>)['isAdmin']).toBeUndefined();
  });

  it('takes the last of repeated keys, as JSON.parse does', () => {
    expect(readArguments('{"a":1,"a":2}')).toEqual({ ok: true, value: { a: 2 } });
  });

  it('refuses what nests too deep, but not brackets in text', () => {
    expect(fault(`${'{"a":'.repeat(65)}1${'}'.repeat(65)}`)).toMatch(/nested deeper than 64/);
    expect(fault(`{"a":${'['.repeat(60_000)}${']'.repeat(60_000)}}`)).toMatch(/nested deeper/);
    expect(readArguments(`{"a":"${'[{'.repeat(100)}\\""}`).ok).toBe(true);
  });

  it('refuses what is too long', () => {
    expect(fault(`{"a":"${'x'.repeat(200_000)}"}`)).toBe(
      'the arguments have 200008 bytes; at most 131072 are possible',
    );
  });

  it('refuses U+0000 and half a surrogate pair, but not their escaped spelling', () => {
    expect(fault(String.raw`{"a":"x\u0000"}`)).toMatch(/U\+0000/);
    expect(fault(String.raw`{"a\ud83d":1}`)).toMatch(/surrogate/);
    expect(readArguments(String.raw`{"a":"\\u0000 \\ud83d \ud83d\ude00"}`)).toEqual({
      ok: true,
      value: { a: String.raw`\u0000 \ud83d ` + '😀' },
    });
  });

  it('never throws, whatever the text', () => {
    fc.assert(fc.property(fc.oneof(fc.string({ unit: 'binary' }), fc.json()), (raw) => void readArguments(raw)));
  });
});
