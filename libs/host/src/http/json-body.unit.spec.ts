import { describe, expect, it } from 'vitest';
import { parseJsonBody } from './json-body.js';

const read = (text: string): unknown => parseJsonBody(Buffer.from(text));

describe('a JSON body', () => {
  it.each([
    ['{"a":[1,-2.5,true,null]}', { a: [1, -2.5, true, null] }],
    ['{"a":9007199254740991}', { a: 9007199254740991 }],
    ['{"a":0.1,"b":1.10,"c":1e21,"d":100000000000000000000}', { a: 0.1, b: 1.1, c: 1e21, d: 1e20 }],
    ['{"a":-0.0,"b":0e5}', { a: -0, b: 0 }],
    ['{"a":"9007199254740993"}', { a: '9007199254740993' }],
    ['{"a":"\\\\u0000 as six characters"}', { a: '\\u0000 as six characters' }],
    ['{"a":"\\ud83c\\udf0d"}', { a: '🌍' }],
    ['{"constructor":"builder"}', { constructor: 'builder' }],
    ['', undefined],
    [' \n', undefined],
  ])('%s is read as it is', (text, value) => {
    expect(read(text)).toEqual(value);
  });

  it.each([
    ['{"id":2512292042121000001}', 'body, key `id`'],
    ['{"a":9007199254740993}', 'body, key `a`'],
    ['[0.12345678901234567891]', 'body, key `0`'],
    ['{"a":1e400}', 'body, key `a`'],
    ['{"a":1e-400}', 'body, key `a`'],
    ['{"a":{"b":"x\\u0000y"}}', 'body.a.b'],
    ['{"a\\u0000":1}', 'a key of body'],
    ['["\\ud800"]', 'body[0]'],
    ['{"a":{"__proto__":{"isAdmin":true}}}', 'body.a'],
    ['{"constructor":{"prototype":{"x":1}}}', 'body'],
    ['{"a":1,}', 'body'],
    ['{"a":1}{"a":1}', 'body'],
    ['NaN', 'body'],
  ])('%s is refused at %s', (text, where) => {
    expect(() => read(text)).toThrow(
      expect.objectContaining({ code: 'invalid-request', details: expect.objectContaining({ where }) }),
    );
  });

  it('refuses bytes that are not UTF-8', () => {
    expect(() => parseJsonBody(Buffer.from([0x22, 0xd1, 0x22]))).toThrow(/not valid UTF-8/);
  });
});
