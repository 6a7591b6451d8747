import {
  encodeHeaders,
  type Envelope,
  EVENTS,
  type EventName,
  eventType,
  type Headers,
  type ServiceName,
  type Topic,
} from '@lineclear/contracts';
import type { NewEvent } from '../lane/batch.js';

/** An event as it goes into the log, and as it is handed over in the process. */
export interface EncodedEvent {
  readonly topic: Topic;
  readonly partition: number;
  readonly key: string;
  readonly id: string;
  readonly headers: Headers;
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
  const attributes = {
    id,
    source: cause.service,
    type: eventType(name),
    subject: key,
    time: cause.time,
    tenant,
    correlationid: correlationId ?? key,
    causationid: cause.id,
    confidentiality: label?.confidentiality ?? 'internal',
    integrity: label?.integrity ?? 'trusted',
    ...(sequence === undefined ? {} : { sequence: String(sequence) }),
    ...(cause.traceparent === undefined ? {} : { traceparent: cause.traceparent }),
  } as const;
  return {
    topic: topicOfEvent(name),
    partition,
    key,
    id,
    headers: encodeHeaders(attributes),
    value: JSON.stringify(data),
    event: { ...attributes, data },
  };
}

const topicOfEvent = (name: EventName): Topic => EVENTS[name].topic;
