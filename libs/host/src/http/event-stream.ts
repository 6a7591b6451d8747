import { Readable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { StreamableFile } from '@nestjs/common';

export interface ServerSentEvent {
  /** what a reconnecting client names in `Last-Event-ID` */
  readonly id: string;
  readonly event: string;
  /** one line, such as JSON text */
  readonly data: string;
}

export interface FollowOptions {
  /** Events after those that it gave before; called again at once while it gives some, else after `pollMs`. */
  readonly read: () => Promise<readonly ServerSentEvent[]>;
  /** Ends the stream; inject CLOSING. */
  readonly closing: AbortSignal;
  /** true: the last event was given, end the stream */
  readonly isComplete?: () => boolean;
  /** Default 200. */
  readonly pollMs?: number;
}

const ALIVE_AFTER_MS = 15_000;

/** A text/event-stream answer that follows a growing list at the pace of its reader. Ends when the reader goes away, or at shutdown. */
export function eventStream(options: FollowOptions): StreamableFile {
  return new StreamableFile(Readable.from(lines(options), { objectMode: false }), { type: 'text/event-stream' });
}

async function* lines({ read, closing, isComplete, pollMs = 200 }: FollowOptions): AsyncGenerator<string> {
  yield ': open\n\n';
  let saidAt = performance.now();
  while (!closing.aborted) {
    const events = await read();
    for (const { id, event, data } of events) yield `id: ${id}\nevent: ${event}\ndata: ${data}\n\n`;
    if (events.length > 0) {
      saidAt = performance.now();
      continue;
    }
    if (isComplete?.() === true) return;
    if (performance.now() - saidAt > ALIVE_AFTER_MS) {
      yield ': alive\n\n';
      saidAt = performance.now();
    }
    await delay(pollMs, undefined, { signal: closing }).catch(() => undefined);
  }
}
