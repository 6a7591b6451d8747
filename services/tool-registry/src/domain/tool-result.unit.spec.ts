import { describe, expect, it } from 'vitest';
import { MAX_SHOWN_BYTES, type Received, shownResult } from './tool-result.js';

const CALL = 'run_0123456789abcdef01234567-1-0';
const text = (value: string) => ({ type: 'text', text: value });
const shown = (...content: Received['content']) => shownResult(CALL, { content });
const PNG = Buffer.concat([Buffer.from('89504e470d0a1a0a', 'hex'), Buffer.alloc(150_000, 7)]).toString('base64');

describe('a tool result', () => {
  it('is its text and its structured value', () => {
    expect(shownResult(CALL, { content: [text('a'), text('b')], structuredContent: { n: 1 } })).toEqual({
      result: { text: 'a\nb', structured: { n: 1 } },
      blobs: [],
    });
  });

  it('says so when it is empty, and shows the structured value when there is nothing else', () => {
    expect(shown().result.text).toBe('(no output)');
    expect(shown(text('')).result.text).toBe('(no output)');
    expect(shownResult(CALL, { content: [], structuredContent: { n: 1 } }).result.text).toBe('{"n":1}');
  });

  it('is well-formed Unicode without U+0000', () => {
    const { result } = shownResult(CALL, {
      content: [text('a\ud800b\u0000')],
      structuredContent: { 'k\udfff': '\u0000' },
    });
    expect(result).toEqual({ text: 'a\uFFFDb\uFFFD', structured: { 'k\uFFFD': '\uFFFD' } });
  });

  it('keeps what is too long aside, with a head, a handle and a preview', () => {
    const long = `first line\nsecond line\nthird line\n${'x'.repeat(MAX_SHOWN_BYTES)}🌍`;
    const { result, blobs } = shown(text(long));
    expect(Buffer.byteLength(result.text)).toBeLessThan(3_000);
    expect(result.handle).toMatchObject({
      mediaType: 'text/plain',
      bytes: Buffer.byteLength(long),
      preview: 'first line\nsecond line\nthird line',
    });
    expect(blobs).toMatchObject([{ id: result.handle?.id, data: long, isBinary: false }]);
    expect(result.text).toContain(result.handle?.id);
  });

  it('keeps a structured value that is too large aside', () => {
    const { result, blobs } = shownResult(CALL, {
      content: [text('ok')],
      structuredContent: { rows: Array(5_000).fill('row') },
    });
    expect(result.structured).toBeUndefined();
    expect(result.text).toMatch(/^ok\n\[\d+ bytes of application\/json are kept as blob_/);
    expect(JSON.parse(blobs[0]?.data ?? '')).toMatchObject({ rows: expect.any(Array) });
  });

  it('never cuts a character in half', () => {
    expect(shown(text('🌍'.repeat(10_000))).result.text.isWellFormed()).toBe(true);
    expect(shown(text(`a${'🌍'.repeat(10_000)}`)).result.text.isWellFormed()).toBe(true);
  });

  it('B13: bytes never enter as text, however often and wherever they come', () => {
    const images = Array.from({ length: 12 }, (_, n) => ({
      type: 'image',
      data: PNG.slice(n * 4),
      mimeType: 'image/png',
    }));
    const { result, blobs } = shownResult(CALL, {
      content: [...images, text(`see ${PNG}`), text(`<img src="data:image/png;base64,${PNG}">`)],
      structuredContent: { image: PNG, again: { uri: `data:image/png;base64,${PNG}` }, other: `${PNG}AAAA` },
    });
    expect(Buffer.byteLength(JSON.stringify(result))).toBeLessThan(3_000);
    expect(blobs).toHaveLength(12);
    expect(blobs[0]).toMatchObject({ isBinary: true, mediaType: 'image/png', bytes: 150_008 });
  });

  it('B13: tells when the bytes are not what was declared', () => {
    expect(shown({ type: 'image', data: PNG, mimeType: 'text/html' }).result.text).toMatch(
      /^\[text\/html, 150008 bytes, but its bytes are image\/png; kept as blob_[0-9a-f]{24}\]$/,
    );
  });

  it('shows embedded texts and names links', () => {
    expect(
      shown(
        { type: 'resource', resource: { uri: 'file:///a', text: 'inside' } },
        { type: 'resource_link', uri: 'https://example.com/x', name: 'x' },
        { type: 'hologram' },
      ).result.text,
    ).toBe('inside\n[link: x https://example.com/x]\n[content of type `hologram` is not shown]');
  });

  it('survives a value that is nested without end', () => {
    let deep: unknown = 'x';
    for (let n = 0; n < 50_000; n += 1) deep = [deep];
    expect(JSON.stringify(shownResult(CALL, { content: [], structuredContent: deep }).result)).toContain(
      'nested too deep',
    );
  });

  it('gives the same handle again for the same call and data', () => {
    const ids = [1, 2].map(() => shown(text('y'.repeat(20_000))).result.handle?.id);
    expect(ids[0]).toBe(ids[1]);
    expect(shownResult('run_other', { content: [text('y'.repeat(20_000))] }).result.handle?.id).not.toBe(ids[0]);
  });
});
