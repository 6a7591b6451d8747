import { decodeHeaders, type EventName, eventNameOf, EVENTS, type ServiceName, shardOf } from '@lineclear/contracts';
import { InvalidMessageError } from '@lineclear/errors';
import type { BusRecord } from '../bus/bus.js';
import type { HandlerRegistry } from './registry.js';
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
  let event = record.event;
  let source = record.topic as string;
  let id = `${record.partition}/${record.offset}`;
  let type = record.headers['ce_type'] ?? 'unknown';
  let key = record.key ?? record.headers['ce_subject'] ?? `${record.topic}/${record.partition}`;
  const traceparent = record.headers['traceparent'] ?? record.headers['ce_traceparent'];
  try {
    if (event === undefined) {
      const attributes = decodeHeaders(record.headers);
      ({ source, id, type, subject: key } = attributes);
      const name = eventNameOf(type);
      if (!isWanted(name, reader)) return { fate: 'skip', source, id, type, key, input: undefined, traceparent };
      assertKey(record, key);
      event = { ...attributes, data: parseData(record, name) };
    } else ({ source, id, type, subject: key } = event);
    const name = eventNameOf(type);
    if (!isWanted(name, reader)) return { fate: 'skip', source, id, type, key, input: undefined, traceparent };
    if (reader.registry.find('event', name ?? type) === undefined) throw unknownType(type, reader);
    assertStorable(record, [source, id, key, event.tenant]);
    const input = {
      kind: 'event',
      id,
      key,
      shard: shard.id,
      name: name ?? type,
      event,
      redriven,
      text: record.value ?? '',
    } as EventInput;
    return { fate: 'decide', source, id, type, key, input, traceparent };
  } catch (error) {
    return {
      fate: 'invalid',
      source: storable(source),
      id: storable(id),
      type: storable(type),
      key: storable(key),
      input: undefined,
      traceparent,
      error,
    };
  }
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
