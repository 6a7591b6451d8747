import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { LineReader, type OversizedLine } from './line-reader.js';

function read(chunks: readonly Buffer[], maxBytes = 1_000) {
  const lines: string[] = [];
  const oversized: OversizedLine[] = [];
  const reader = new LineReader(
    maxBytes,
    (line) => lines.push(line),
    (line) => oversized.push(line),
  );
  for (const chunk of chunks) reader.push(chunk);
  return { lines, oversized };
}

describe('LineReader', () => {
  it('gives the same lines however the bytes are cut', () => {
    const bytes = Buffer.from('{"a":"ü"}\n{"b":"🌍"}\r\n\n{"c":1}\n{"rest"');
    fc.assert(
      fc.property(fc.array(fc.nat(bytes.length), { maxLength: 8 }), (cuts) => {
        const at = [0, ...cuts.toSorted((a, b) => a - b), bytes.length];
        const chunks = at.slice(1).map((end, n) => bytes.subarray(at[n], end));
        expect(read(chunks).lines).toEqual(['{"a":"ü"}', '{"b":"🌍"}', '{"c":1}']);
      }),
    );
  });

  it('skips a line over the limit, keeps its ends, and goes on with the next', () => {
    const long = Buffer.from(`{"id":7,${'x'.repeat(5_000)},"end":1}`);
    const chunks = [Buffer.from('a\n'), long.subarray(0, 900), long.subarray(900), Buffer.from('\nb\n')];
    const { lines, oversized } = read(chunks);
    expect(lines).toEqual(['a', 'b']);
    expect(oversized).toMatchObject([
      { bytes: long.length, head: expect.stringMatching(/^\{"id":7,/), tail: expect.stringMatching(/"end":1\}$/) },
    ]);
  });

  it('turns invalid bytes into U+FFFD', () => {
    expect(read([Buffer.from([0x61, 0xff, 0x0a])]).lines).toEqual(['a\uFFFD']);
  });
});
