/** A line that was longer than the limit: its first and last characters, to tell what it was. */
export interface OversizedLine {
  readonly head: string;
  readonly tail: string;
  readonly bytes: number;
}

const NEWLINE = 0x0a;
const KEPT = 256;

/**
 * Cuts a byte stream into lines of UTF-8 text, however the bytes arrive. A line over the limit is counted and skipped, so that what is held never
 * exceeds the limit; invalid bytes become U+FFFD.
 */
export class LineReader {
  readonly #parts: Buffer[] = [];
  #held = 0;
  #skipped = 0;
  #head = '';
  #tail = Buffer.alloc(0);

  constructor(
    private readonly maxBytes: number,
    private readonly onLine: (line: string) => void,
    private readonly onOversized: (line: OversizedLine) => void,
  ) {}

  push(chunk: Buffer): void {
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
      this.#take(chunk.subarray(start, end));
      this.#end();
      start = end + 1;
    }
    this.#take(chunk.subarray(start));
  }

  #take(part: Buffer): void {
    if (part.length === 0) return;
    if (this.#skipped > 0) return this.#skip(part);
    this.#parts.push(part);
    this.#held += part.length;
    if (this.#held <= this.maxBytes) return;
    const all = Buffer.concat(this.#parts);
    this.#head = all.subarray(0, KEPT).toString('utf8');
    this.#parts.length = 0;
    this.#held = 0;
    this.#skip(all);
  }

  #skip(part: Buffer): void {
    this.#skipped += part.length;
    this.#tail = Buffer.from(Buffer.concat([this.#tail, part.subarray(-KEPT)]).subarray(-KEPT));
  }

  #end(): void {
    if (this.#skipped > 0) {
      const line = { head: this.#head, tail: this.#tail.toString('utf8'), bytes: this.#skipped };
      this.#skipped = 0;
      this.#head = '';
      this.#tail = Buffer.alloc(0);
      return this.onOversized(line);
    }
    const line = Buffer.concat(this.#parts).toString('utf8').replace(/\r$/, '');
    this.#parts.length = 0;
    this.#held = 0;
    if (line !== '') this.onLine(line);
  }
}
