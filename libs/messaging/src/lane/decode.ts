import {
  decodeHeaders,
  type Envelope,
  type EnvelopeAttributes,
  type EventName,
  eventNameOf,
  EVENTS,
  type ServiceName,
  shardOf,
} from '@lineclear/contracts';
import { InvalidMessageError } from '@lineclear/errors';
import type { BusRecord } from '../bus/bus.js';
import type { Handler, HandlerRegistry } from './registry.js';
import type { EventInput } from './input.js';
import type { Shard } from './shard.js';
import type { BusWork } from './work.js';

/** What a record costs in the queue beyond its value. */
const OVERHEAD_BYTES = 500;

export const recordBytes = (record: BusRecord): number => (record.value?.length ?? 0) + OVERHEAD_BYTES;

export interface Decoded {
  readonly fate: BusWork['fate'];
  readonly source: string;
  readonly id: string;
  readonly type: string;
  readonly key: string;
  readonly input: EventInput | undefined;
  readonly handler: Handler | undefined;
  readonly traceparent: string | undefined;
  readonly error?: unknown;
}

/** How this service reads the bus. */
export interface Reader {
  readonly service: ServiceName;
  readonly registry: HandlerRegistry;
}

/**
 * Decodes and checks one record. Handed over in the process it carries the event, which is valid by its producer's types; else headers and
 * data are parsed and checked by the contract, tolerantly. Never throws: what is wrong is `invalid`, with its error.
 */
export function decodeRecord(record: BusRecord, shard: Shard, reader: Reader, redriven = false): Decoded {
  try {
    const { event } = record;
    return event === undefined
      ? decodeText(record, shard, reader, redriven)
      : decided(record, event, shard, reader, redriven);
  } catch (error) {
    return { ...attributesOf(record), fate: 'invalid', input: undefined, handler: undefined, error };
  }
}

function decodeText(record: BusRecord, shard: Shard, reader: Reader, redriven: boolean): Decoded {
  const attributes = decodeHeaders(record.headers);
  const name = eventNameOf(attributes.type);
  if (!isWanted(name, reader)) return skipped(attributes);
  assertKey(record, attributes.subject);
  assertStorable(record, [attributes.source, attributes.id, attributes.subject, attributes.tenant]);
  return decided(record, { ...attributes, data: parseData(record, name) }, shard, reader, redriven);
}

function decided(record: BusRecord, event: Envelope, shard: Shard, reader: Reader, redriven: boolean): Decoded {
  const { source, id, type, subject: key, traceparent } = event;
  const name = eventNameOf(type);
  const handler = reader.registry.find('event', name ?? type);
  if (handler === undefined) {
    if (!isWanted(name, reader)) return skipped(event);
    throw unknownType(type, reader);
  }
  const text = record.value ?? '';
  const input = { kind: 'event', id, key, shard: shard.id, name: name ?? type, event, redriven, text } as EventInput;
  return { fate: 'decide', source, id, type, key, input, handler, traceparent };
}

function skipped({ source, id, type, subject: key, traceparent }: EnvelopeAttributes): Decoded {
  return { fate: 'skip', source, id, type, key, input: undefined, handler: undefined, traceparent };
}

/** What can be said of a record that cannot be read, in a form that can be stored. */
function attributesOf({ topic, partition, offset, key, headers }: BusRecord) {
  return {
    source: storable(headers['ce_source'] ?? topic),
    id: storable(headers['ce_id'] ?? `${partition}/${offset}`),
    type: storable(headers['ce_type'] ?? 'unknown'),
    key: storable(key ?? headers['ce_subject'] ?? `${topic}/${partition}`),
    traceparent: headers['ce_traceparent'],
  };
}

/** What the contracts do not send to this service is skipped on purpose; an unknown type is nobody's to skip. */
function isWanted(name: EventName | undefined, { registry, service }: Reader): boolean {
  if (name === undefined || registry.find('event', name) !== undefined) return true;
  return (EVENTS[name].consumers as readonly ServiceName[]).includes(service);
}

function parseData(record: BusRecord, name: EventName | undefined): unknown {
  if (record.value === null) throw invalid(record, 'is a tombstone', 'nothing', 'JSON data');
  let data: unknown;
  try {
    data = JSON.parse(record.value);
  } catch (cause) {
    throw invalid(record, 'is not JSON', String(cause), 'JSON data');
  }
  if (name === undefined) return data;
  const parsed = EVENTS[name].schema.safeParse(data);
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0];
  throw invalid(record, 'does not match its schema', `${issue?.path.join('.') ?? ''}: ${issue?.message ?? ''}`, name);
}

function assertKey(record: BusRecord, subject: string): void {
  if (record.key !== null && record.key !== subject)
    throw invalid(record, 'has another key than its subject', record.key, subject);
  const shard = shardOf(subject);
  if (shard !== record.partition)
    throw invalid(record, 'is in another partition than its key belongs to', String(record.partition), String(shard));
}

/** PostgreSQL stores every text but U+0000 and lone surrogates. */
export function storable(text: string): string {
  return text.toWellFormed().replaceAll('\u0000', '\ufffd');
}

function assertStorable(record: BusRecord, texts: readonly string[]): void {
  for (const text of texts)
    if (text.includes('\u0000') || !text.isWellFormed())
      throw invalid(
        record,
        'has an attribute that cannot be stored',
        JSON.stringify(text),
        'well-formed text without U+0000',
      );
}

function invalid(record: BusRecord, what: string, seen: string, expected: string): InvalidMessageError {
  const { topic, partition, offset } = record;
  return new InvalidMessageError('invalid-message', `message ${topic}/${partition}/${offset} ${what}`, {
    details: { where: `${topic}/${partition}/${offset}`, seen, expected },
  });
}

function unknownType(type: string, reader: Reader): InvalidMessageError {
  return new InvalidMessageError('unknown-type', `\`${reader.service}\` does not know events of type \`${type}\``, {
    details: { seen: type, expected: 'a type that this release handles' },
  });
}
