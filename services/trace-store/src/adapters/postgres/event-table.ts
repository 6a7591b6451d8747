import { defineTable, type EventInput, type Row } from '@lineclear/messaging';
import type { ArchivedEvent } from '../../domain/archived-event.js';

/** The archive: every event once. The key starts with the subject, so that one index serves both the dedupe and the reading of a run. */
export const EVENT_TABLE = defineTable({
  name: 'event',
  columns: {
    subject: 'text',
    source: 'text',
    id: 'text',
    type: 'text',
    tenant: 'text',
    time: 'text',
    arrival: 'bigint',
    correlationid: 'text',
    causationid: 'text',
    sequence: 'text',
    traceparent: 'text',
    confidentiality: 'text',
    integrity: 'text',
    data: 'text',
  },
  key: ['subject', 'source', 'id'],
});

/** A row of `event` as pg reads it: bigint comes as text. */
export interface EventRow {
  readonly subject: string;
  readonly source: string;
  readonly id: string;
  readonly type: string;
  readonly tenant: string;
  readonly time: string;
  readonly arrival: string;
  readonly correlationid: string;
  readonly causationid: string | null;
  readonly sequence: string | null;
  readonly traceparent: string | null;
  readonly confidentiality: ArchivedEvent['confidentiality'];
  readonly integrity: ArchivedEvent['integrity'];
  readonly data: string;
}

export function rowOf({ event, text }: EventInput, arrival: number): Row {
  return {
    subject: event.subject,
    source: event.source,
    id: event.id,
    type: event.type,
    tenant: event.tenant,
    time: event.time,
    arrival,
    correlationid: event.correlationid,
    causationid: event.causationid ?? null,
    sequence: event.sequence ?? null,
    traceparent: event.traceparent ?? null,
    confidentiality: event.confidentiality,
    integrity: event.integrity,
    data: text ?? JSON.stringify(event.data),
  };
}

export function archivedOf(row: EventRow): ArchivedEvent {
  const { arrival, causationid, sequence, traceparent, data, ...same } = row;
  return {
    ...same,
    ...(causationid !== null && { causationid }),
    ...(sequence !== null && { sequence }),
    ...(traceparent !== null && { traceparent }),
    arrival: Number(arrival),
    dataText: data,
  };
}
