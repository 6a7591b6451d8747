/** One server-sent event. `id` is what a reconnect would name as the last one seen. */
export interface StreamEvent {
  readonly id: string | undefined;
  readonly event: string;
  readonly data: string;
}

/** The events of a text/event-stream body, in order, whatever the chunks are. Ends when the body ends. */
export async function* readEventStream(body: ReadableStream<Uint8Array>): AsyncGenerator<StreamEvent> {
  let pending = '';
  for await (const text of body.pipeThrough(new TextDecoderStream())) {
    pending = (pending + text).replaceAll('\r\n', '\n');
    const blocks = pending.split('\n\n');
    pending = blocks.pop() ?? '';
    for (const block of blocks) {
      const event = parseBlock(block);
      if (event !== undefined) yield event;
    }
  }
}

function parseBlock(block: string): StreamEvent | undefined {
  const fields = { id: undefined as string | undefined, event: 'message', data: [] as string[] };
  for (const line of block.split('\n')) {
    const colon = line.indexOf(':');
    if (colon === 0) continue;
    const name = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? '' : line.slice(colon + 1).replace(/^ /, '');
    if (name === 'data') fields.data.push(value);
    else if (name === 'id') fields.id = value;
    else if (name === 'event') fields.event = value;
  }
  return fields.data.length === 0 ? undefined : { ...fields, data: fields.data.join('\n') };
}
