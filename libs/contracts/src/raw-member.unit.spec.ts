import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { rawMember } from './raw-member.js';

const space = fc.constantFrom('', ' ', '\n\t', '\r\n ');

describe('source text of a member', () => {
  it.each([
    ['{"data":1}', '1'],
    ['{ "data" : 12345678901234567890 , "b":2}', '12345678901234567890'],
    ['{"a":{"data":1},"data":{"x":[1,{"y":"}"}]} }', '{"x":[1,{"y":"}"}]}'],
    ['{"data":"a\\"b,}"}', '"a\\"b,}"'],
    ['{"\\u0064ata":true}', 'true'],
    ['{"data":1,"data":[ 2 ]}', '[ 2 ]'],
  ])('of %s is %s', (text, expected) => {
    expect(rawMember(text, 'data')).toBe(expected);
  });

  it('is kept byte for byte, wherever the member stands and however it is spaced', () => {
    fc.assert(
      fc.property(
        fc.array(
          fc.tuple(
            fc.string().filter((key) => key !== 'data'),
            fc.json(),
          ),
          { maxLength: 4 },
        ),
        fc.json(),
        fc.nat(4),
        fc.array(space, { minLength: 4, maxLength: 4 }),
        (others, data, at, [a = '', b = '', c = '', d = '']) => {
          const members = others.map(([key, value]) => `${a}${JSON.stringify(key)}${b}:${c}${value}${d}`);
          members.splice(at, 0, `${d}"data"${c}:${b}${data}${a}`);
          const text = `${a}{${members.join(',')}}${b}`;
          expect(JSON.parse(text)).toHaveProperty('data');
          expect(rawMember(text, 'data')).toBe(data);
        },
      ),
    );
  });
});
