import { derivedId, type Handle, sha256Hex, type ToolResult } from '@lineclear/contracts';
import { sniffedMediaType } from './media-type.js';

/** Most bytes of text, and of structured JSON, that go to the model at once. */
export const MAX_SHOWN_BYTES = 16 * 1024;
const HEAD_CHARS = 2_000;
const PREVIEW_CHARS = 240;
const MAX_DEPTH = 64;
/** A text without blanks, this long and of base64 letters only, is no text for a model. */
const MIN_BASE64_CHARS = 4_096;
const DATA_URI = /data:[a-z0-9.+-]+\/[a-z0-9.+-]+;base64,[A-Za-z0-9+/=_-]{200,}/gi;

/** A part of a result that is kept aside; `data` is text, or base64 for bytes. */
export interface Blob {
  readonly id: string;
  readonly mediaType: string;
  readonly isBinary: boolean;
  readonly data: string;
  readonly bytes: number;
  readonly sha256: string;
}

/** What a tool answered, by the protocol; content and structured value are untrusted. */
export interface Received {
  readonly content: readonly Readonly<Record<string, unknown>>[];
  readonly structuredContent?: unknown;
}

export interface ShownResult {
  readonly result: ToolResult;
  readonly blobs: readonly Blob[];
}

/**
 * What the model is shown of a result, and what is kept aside for `read_result`. Bytes never become text, neither as content nor again inside
 * the structured value; text is well-formed Unicode without U+0000; an empty result says so.
 */
export function shownResult(callId: string, received: Received): ShownResult {
  const keeper = new Keeper(callId);
  const parts = received.content.map((block) => keeper.textOf(block));
  const structured = received.structuredContent === undefined ? undefined : keeper.clean(received.structuredContent, 0);
  const json = structured === undefined ? '' : JSON.stringify(structured);
  const text =
    parts
      .filter((part) => part !== '')
      .map((part) => keeper.withoutBytes(part))
      .join('\n') ||
    json ||
    '(no output)';
  return { result: keeper.capped(text, structured, json), blobs: keeper.blobs };
}

class Keeper {
  readonly blobs: Blob[] = [];
  readonly #binaries = new Map<string, string>();

  constructor(private readonly callId: string) {}

  textOf(block: Readonly<Record<string, unknown>>): string {
    switch (block['type']) {
      case 'text':
        return wellFormed(word(block['text']));
      case 'image':
      case 'audio':
        return this.#binary(word(block['data']), block['mimeType']);
      case 'resource':
        return this.#resource(block['resource']);
      case 'resource_link':
        return `[link: ${wellFormed(`${word(block['name'])} ${word(block['uri'])}`).trim()}]`;
      default:
        return `[content of type \`${wellFormed(word(block['type'])).slice(0, 40)}\` is not shown]`;
    }
  }

  #resource(resource: unknown): string {
    if (typeof resource !== 'object' || resource === null) return '';
    if ('text' in resource) return wellFormed(word(resource.text));
    const mimeType = 'mimeType' in resource ? resource.mimeType : undefined;
    return 'blob' in resource ? this.#binary(word(resource.blob), mimeType) : '';
  }

  #binary(data: string, declared: unknown): string {
    const mediaType = typeof declared === 'string' ? wellFormed(declared).slice(0, 100) : 'application/octet-stream';
    const blob = this.#keep(data, mediaType, true);
    const seen = sniffedMediaType(data);
    const doubt = seen === undefined || seen === mediaType ? '' : `, but its bytes are ${seen}`;
    const note = `[${mediaType}, ${blob.bytes} bytes${doubt}; kept as ${blob.id}]`;
    if (data.length >= 64) this.#binaries.set(data, note);
    return note;
  }

  /** A copy for the event: bytes that came as content, data URIs and long base64 are replaced by notes. */
  clean(value: unknown, depth: number): unknown {
    if (typeof value === 'string') return this.withoutBytes(wellFormed(value));
    if (typeof value !== 'object' || value === null) return value;
    if (depth > MAX_DEPTH) return '[nested too deep to be shown]';
    if (Array.isArray(value)) return value.map((item) => this.clean(item, depth + 1));
    return Object.fromEntries(
      Object.entries(value).map(([key, item]) => [wellFormed(key), this.clean(item, depth + 1)]),
    );
  }

  withoutBytes(text: string): string {
    if (text.length < 64) return text;
    let clean = text;
    for (const [data, note] of this.#binaries) clean = clean.replaceAll(data, () => note);
    clean = clean.replaceAll(DATA_URI, (uri) => `[data URI of ${uri.length} characters is not shown]`);
    const isBase64 = clean.length >= MIN_BASE64_CHARS && /^[A-Za-z0-9+/=_-]+$/.test(clean) && /[0-9+/=_-]/.test(clean);
    return isBase64 ? `[base64 of ${clean.length} characters is not shown]` : clean;
  }

  capped(text: string, structured: unknown, json: string): ToolResult {
    const isLong = Buffer.byteLength(text) > MAX_SHOWN_BYTES;
    const isWide = Buffer.byteLength(json) > MAX_SHOWN_BYTES;
    const handle = isLong
      ? this.#handle(text, 'text/plain')
      : isWide
        ? this.#handle(json, 'application/json')
        : undefined;
    return {
      text: handle === undefined ? text : shortened(text, handle, isLong),
      ...(structured === undefined || isWide ? {} : { structured }),
      ...(handle === undefined ? {} : { handle }),
    };
  }

  #handle(data: string, mediaType: string): Handle {
    const { id, bytes, sha256 } = this.#keep(data, mediaType, false);
    const preview = headOf(data.split('\n', 3).join('\n'), PREVIEW_CHARS);
    return { id, bytes, sha256, mediaType, preview };
  }

  #keep(data: string, mediaType: string, isBinary: boolean): Blob {
    const bytes = Buffer.from(data, isBinary ? 'base64' : 'utf8');
    const sha256 = sha256Hex(bytes);
    const id = `blob_${derivedId('blob', this.callId, this.blobs.length, sha256).slice(0, 24)}`;
    const blob = {
      id,
      mediaType,
      isBinary,
      data: isBinary ? bytes.toString('base64') : data,
      bytes: bytes.length,
      sha256,
    };
    this.blobs.push(blob);
    return blob;
  }
}

function shortened(text: string, { id, bytes, mediaType }: Handle, isLong: boolean): string {
  const note = `[${bytes} bytes of ${mediaType} are kept as ${id}; read on with \`read_result\`]`;
  return isLong ? `${headOf(text, HEAD_CHARS)}\n${note}` : `${text}\n${note}`;
}

/** The first characters, never half of one. */
function headOf(text: string, chars: number): string {
  return text.slice(0, chars).replace(/[\uD800-\uDBFF]$/, '');
}

const word = (value: unknown): string => (typeof value === 'string' ? value : '');

const wellFormed = (text: string): string => text.toWellFormed().replaceAll('\u0000', '\uFFFD');
