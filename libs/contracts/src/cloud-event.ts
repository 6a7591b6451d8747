import { InvalidMessageError } from '@lineclear/errors';
import { rawMember } from './raw-member.js';

type HeaderValue = string | Uint8Array;

/** Headers as a transport delivers them; a repeated one as an array. */
export type WireHeaders = Readonly<Record<string, HeaderValue | readonly HeaderValue[] | undefined>>;

/** CloudEvents context attributes as strings, extensions included; `datacontenttype` is left out. */
export interface CloudEventAttributes {
  readonly specversion: '1.0';
  readonly id: string;
  readonly source: string;
  readonly type: string;
  readonly [name: string]: string | undefined;
}

export interface CloudEvent {
  readonly attributes: CloudEventAttributes;
  /** JSON text of `data`, byte for byte as it was sent */
  readonly dataText: string;
  /** the same, parsed; numbers may have lost digits */
  readonly data: unknown;
}

export interface DecodeOptions {
  /** Kafka names attribute headers `ce_id`, HTTP `ce-id` with percent-encoded values */
  readonly binding: 'kafka' | 'http';
  /** Limit of `data`, in UTF-8 bytes. Default 262,144. */
  readonly maxDataBytes?: number;
}

const MAX_DATA_BYTES = 262_144;
/** Attributes become columns and index entries, which PostgreSQL bounds. */
const MAX_ATTRIBUTE_CHARS = 1_024;
const EXPECTED_FORM =
  'a CloudEvents 1.0 event: `ce_` headers with the data as value, or content-type `application/cloudevents+json`';

type Seen = Record<string, string>;

/**
 * A CloudEvents 1.0 event in binary or structured mode; `body` null is a tombstone. Throws InvalidMessageError `invalid-message` or `too-large`
 * whose details hold {where, seen, expected, attributes}; `attributes` are those that could be read, so that a refusal can name the event.
 */
export function decodeCloudEvent(headers: WireHeaders, body: Uint8Array | null, options: DecodeOptions): CloudEvent {
  const contentType = singleHeader(headers, 'content-type', {})?.trim() ?? '';
  const event = /^application\/cloudevents/i.test(contentType)
    ? fromStructured(contentType, body)
    : fromBinary(headers, contentType, body, options.binding);
  const { seen, dataText } = event;
  const attributes = checkedAttributes(seen);
  const bytes = Buffer.byteLength(dataText);
  const limit = options.maxDataBytes ?? MAX_DATA_BYTES;
  if (bytes > limit)
    throw new InvalidMessageError(
      'too-large',
      `\`data\` has ${bytes} bytes, the limit is ${limit}; send a handle to it`,
      {
        details: { where: 'data', seen: `${bytes} bytes`, expected: `at most ${limit} bytes`, attributes: seen },
      },
    );
  return { attributes, dataText, data: parsedData(dataText, seen) };
}

function fromBinary(headers: WireHeaders, contentType: string, body: Uint8Array | null, binding: 'kafka' | 'http') {
  const prefix = binding === 'kafka' ? 'ce_' : 'ce-';
  const seen: Seen = {};
  for (const header of Object.keys(headers)) {
    const name = header.slice(prefix.length);
    if (!header.startsWith(prefix) || !/^[a-z0-9]+$/.test(name) || name === 'datacontenttype') continue;
    const value = singleHeader(headers, header, seen);
    if (value !== undefined) seen[name] = binding === 'http' ? percentDecoded(header, value, seen) : value;
  }
  if (seen['specversion'] === undefined) throw fault(`${prefix}specversion`, 'nothing', EXPECTED_FORM, seen);
  if (contentType !== '') assertJsonType(contentType, seen);
  if (body === null) throw fault('value', 'nothing (a tombstone)', 'the JSON text of `data`', seen);
  return { seen, dataText: utf8(body, 'value', seen) };
}

function fromStructured(contentType: string, body: Uint8Array | null) {
  const seen: Seen = {};
  if (!/^application\/cloudevents\+json\s*(;|$)/i.test(contentType))
    throw fault('content-type', contentType, 'one event as `application/cloudevents+json`', seen);
  assertUtf8Type(contentType, seen);
  if (body === null) throw fault('value', 'nothing (a tombstone)', 'the JSON text of the event', seen);
  const text = utf8(body, 'value', seen);
  const event = parsedJson(text, 'value', seen);
  if (typeof event !== 'object' || event === null || Array.isArray(event))
    throw fault('value', excerpt(text), 'a JSON object that is the event', seen);
  const { data, data_base64: base64, datacontenttype, ...rest } = event as Record<string, unknown>;
  for (const [name, value] of Object.entries(rest)) {
    if (value === null) continue;
    if (typeof value === 'object') throw fault(name, excerpt(JSON.stringify(value)), 'a string', seen);
    seen[name] = typeof value === 'string' ? value : JSON.stringify(value);
  }
  if (typeof datacontenttype === 'string') assertJsonType(datacontenttype, seen);
  if (typeof base64 === 'string') return { seen, dataText: utf8(Buffer.from(base64, 'base64'), 'data_base64', seen) };
  if (data === undefined) throw fault('data', 'nothing', 'the JSON data of the event', seen);
  return { seen, dataText: rawMember(text, 'data') };
}

function checkedAttributes(seen: Seen): CloudEventAttributes {
  if (seen['specversion'] !== '1.0') throw fault('specversion', seen['specversion'] ?? 'nothing', '`1.0`', seen);
  for (const [name, value] of Object.entries(seen)) {
    if (!/^[a-z0-9]+$/.test(name))
      throw fault(name, excerpt(name), 'an attribute name of lower-case letters and digits', seen);
    if (value.length > MAX_ATTRIBUTE_CHARS)
      throw fault(name, `${value.length} characters`, `at most ${MAX_ATTRIBUTE_CHARS} characters`, seen);
    if (/[\p{Cc}\p{Cs}]/u.test(value))
      throw fault(name, excerpt(JSON.stringify(value)), 'text without control characters', seen);
  }
  const { id, source, type, subject, time } = seen;
  if (!id) throw fault('id', 'nothing', 'a non-empty id', seen);
  if (!source) throw fault('source', 'nothing', 'a non-empty URI reference', seen);
  if (!type) throw fault('type', 'nothing', 'a non-empty type', seen);
  if (subject === '') throw fault('subject', 'nothing', 'a non-empty subject or none', seen);
  if (time !== undefined && !RFC_3339.test(time)) throw fault('time', excerpt(time), 'an RFC 3339 time', seen);
  return { ...seen, specversion: '1.0', id, source, type };
}

const RFC_3339 = /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)$/;

function parsedData(dataText: string, seen: Seen): unknown {
  const data = parsedJson(dataText, 'data', seen);
  if (/\\u(0000|d[89a-f])/i.test(dataText) && !storable(data))
    throw fault(
      'data',
      'a string with U+0000 or half a surrogate pair',
      'strings of Unicode text without U+0000',
      seen,
    );
  return data;
}

/** PostgreSQL stores neither U+0000 nor lone surrogates. Iterative: nesting has no limit but the size. */
function storable(root: unknown): boolean {
  const open: unknown[] = [root];
  for (let value = open.pop(); value !== undefined; value = open.pop()) {
    if (typeof value === 'string' && (value.includes('\u0000') || !value.isWellFormed())) return false;
    if (typeof value !== 'object' || value === null) continue;
    for (const [key, member] of Object.entries(value)) open.push(key, member);
  }
  return true;
}

function singleHeader(headers: WireHeaders, name: string, seen: Seen): string | undefined {
  const value = headers[name];
  if (value === undefined) return undefined;
  if (typeof value === 'string') return value;
  if (value instanceof Uint8Array) return utf8(value, name, seen);
  throw fault(name, `${(value as readonly HeaderValue[]).length} headers of that name`, 'one', seen);
}

function percentDecoded(header: string, value: string, seen: Seen): string {
  try {
    return decodeURIComponent(value);
  } catch (cause) {
    throw fault(header, excerpt(value), 'percent-encoded UTF-8', seen, cause);
  }
}

function assertJsonType(contentType: string, seen: Seen): void {
  if (!/^(application|text)\/([\w.-]+\+)?json\s*(;|$)/i.test(contentType))
    throw fault('content-type', excerpt(contentType), '`application/json`', seen);
  assertUtf8Type(contentType, seen);
}

function assertUtf8Type(contentType: string, seen: Seen): void {
  const charset = /charset\s*=\s*"?([^";\s]+)/i.exec(contentType)?.[1];
  if (charset !== undefined && !/^(utf-?8|us-ascii)$/i.test(charset))
    throw fault('content-type', excerpt(contentType), 'charset UTF-8', seen);
}

function utf8(bytes: Uint8Array, where: string, seen: Seen): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (cause) {
    throw fault(where, 'bytes that are not UTF-8', 'UTF-8 text', seen, cause);
  }
}

function parsedJson(text: string, where: string, seen: Seen): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch (cause) {
    throw fault(where, text === '' ? 'nothing' : excerpt(text), 'JSON', seen, cause);
  }
}

const excerpt = (text: string): string => (text.length > 80 ? `${text.slice(0, 80)}…` : text).toWellFormed();

function fault(where: string, seen: string, expected: string, attributes: Seen, cause?: unknown): InvalidMessageError {
  return new InvalidMessageError('invalid-message', `\`${excerpt(where)}\` must be ${expected}, seen \`${seen}\``, {
    details: { where: excerpt(where), seen, expected, attributes: { ...attributes } },
    cause,
  });
}
