import { describe, expect, it } from 'vitest';
import { readEventStream } from './event-stream.js';

const TEXT =
  ': hello\n\nid: 1\nevent: a\ndata: {"t":"北京 🌍"}\n\nid: 2\r\nevent: b\r\ndata: x\r\ndata: y\r\n\r\nretry: 5\n\n';

async function read(bytes: Uint8Array[]) {
  const events = [];
  for await (const event of readEventStream(ReadableStream.from(bytes))) events.push(event);
  return events;
}

describe('readEventStream', () => {
  it('reads the same events wherever the bytes are split', async () => {
    const bytes = new TextEncoder().encode(TEXT);
    const expected = [
      { id: '1', event: 'a', data: '{"t":"北京 🌍"}' },
      { id: '2', event: 'b', data: 'x\ny' },
    ];
    for (let cut = 1; cut < bytes.length; cut += 1)
      expect(await read([bytes.slice(0, cut), bytes.slice(cut)])).toEqual(expected);
  });
});
