import {
  type Envelope,
  type EnvelopeAttributes,
  EVENTS,
  eventType,
  type Headers,
  type ServiceName,
  type Topic,
} from '@lineclear/contracts';
import type { BusRecord } from '../bus/bus.js';
import type { NewEvent } from '../lane/batch.js';

/** An event as it goes into the log. */
export interface EncodedEvent {
  readonly topic: Topic;
  readonly partition: number;
  readonly key: string;
  readonly id: string;
  readonly tenant: string;
  /** JSON text of the headers */
  readonly headers: string;
  /** JSON text of the data */
  readonly value: string;
  /** undefined when it came as text, through the mailbox */
  readonly event: Envelope | undefined;
}

/** What the event comes from. */
export interface Cause {
  readonly service: ServiceName;
  /** id of the input that it comes from */
  readonly id: string;
  readonly traceparent: string | undefined;
  /** ISO time of the batch */
  readonly time: string;
}

/**
 * @param partition shard of the event's key
 * @param id derived from the cause, so that a re-run of the handler yields it again
 */
export function encodeEvent(event: NewEvent, partition: number, id: string, cause: Cause): EncodedEvent {
  const { name, key, tenant, data, correlationId, label, sequence } = event;
  const envelope: Envelope = {
    id,
    source: cause.service,
    type: eventType(name),
    subject: key,
    time: cause.time,
    tenant,
    correlationid: correlationId ?? key,
    causationid: cause.id,
    sequence: sequence === undefined ? undefined : String(sequence),
    traceparent: cause.traceparent,
    confidentiality: label?.confidentiality ?? 'internal',
    integrity: label?.integrity ?? 'trusted',
    data,
  };
  const { topic } = EVENTS[name];
  const headers = headersText(envelope);
  return { topic, partition, key, id, tenant, headers, value: JSON.stringify(data), event: envelope };
}

const PREFIXES: readonly (readonly [keyof EnvelopeAttributes, string])[] = (
  [
    'id',
    'source',
    'type',
    'subject',
    'time',
    'tenant',
    'correlationid',
    'causationid',
    'sequence',
    'traceparent',
    'confidentiality',
    'integrity',
  ] as const
).map((name) => [name, `,"ce_${name}":`]);

/** The same as JSON.stringify(encodeHeaders(attributes)), without the object: every event of the platform passes here. */
export function headersText(attributes: EnvelopeAttributes): string {
  let text = '{"ce_specversion":"1.0","content-type":"application/json"';
  for (const [name, prefix] of PREFIXES) {
    const value = attributes[name];
    if (value !== undefined) text += prefix + JSON.stringify(value);
  }
  return `${text}}`;
}

/** A record of our own log, as it is handed over in the process; its headers are made only for those who look at them. */
export class LoggedRecord implements BusRecord {
  readonly topic: Topic;
  readonly partition: number;
  readonly key: string;
  readonly value: string;
  readonly event: Envelope | undefined;
  readonly #headersText: string;
  #headers: Headers | undefined;

  constructor(
    encoded: EncodedEvent,
    readonly offset: bigint,
  ) {
    this.topic = encoded.topic;
    this.partition = encoded.partition;
    this.key = encoded.key;
    this.value = encoded.value;
    this.event = encoded.event;
    this.#headersText = encoded.headers;
  }

  get headers(): Headers {
    this.#headers ??= JSON.parse(this.#headersText) as Headers;
    return this.#headers;
  }
}
