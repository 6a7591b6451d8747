import { describe, expect, it } from 'vitest';
import { member, RawArguments } from './raw-arguments.mjs';

describe('member', () => {
  it.each([
    ['{"a":1,"b":{"c":[1,{"d":"}"}]}}', 'b', '{"c":[1,{"d":"}"}]}'],
    ['{ "a" : 1e21 , "b" : -0 }', 'a', '1e21'],
    ['{"a":1,"b":-0}', 'b', '-0'],
    ['{"a\\u0062":"x\\"y\\\\","z":1}', 'ab', '"x\\"y\\\\"'],
    ['{"a":1,"a":2}', 'a', '2'],
    ['{"n":2512292042121000001}', 'n', '2512292042121000001'],
    ['{}', 'a', undefined],
  ])('of %s is its text', (text, name, expected) => {
    expect(member(text, name)).toBe(expected);
  });
});

describe('RawArguments', () => {
  it('keeps the text of each request, however the bytes are cut', async () => {
    const line = (id: number, args: string) =>
      `{"jsonrpc":"2.0","id":${id},"method":"tools/call","params":{"name":"x","arguments":${args}}}\n`;
    const bytes = Buffer.from(line(1, '{"a": 1.10}') + line(2, '{"ü":"🌍"}'));
    const raw = new RawArguments();
    let passed = '';
    raw.on('data', (chunk) => (passed += String(chunk)));
    for (const byte of bytes) raw.write(Buffer.of(byte));
    await new Promise((done) => raw.end(done));
    expect([raw.take(1), raw.take(2), raw.take(3)]).toEqual(['{"a": 1.10}', '{"ü":"🌍"}', '{}']);
    expect(passed).toBe(bytes.toString());
  });
});
