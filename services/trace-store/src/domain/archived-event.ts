import { type EnvelopeAttributes, eventNameOf, EVENTS } from '@lineclear/contracts';

/** One event as it was published: attributes, and `data` as the text that came. */
export interface ArchivedEvent extends EnvelopeAttributes {
  /** order of arrival in the archive; grows, with gaps */
  readonly arrival: number;
  readonly dataText: string;
}

/** Name of a known type, else the type itself. */
export const nameOf = (event: Pick<ArchivedEvent, 'type'>): string => eventNameOf(event.type) ?? event.type;

/** The log that the event was read from: one of its service. */
export function logOf({ source, type }: Pick<ArchivedEvent, 'source' | 'type'>): string {
  const name = eventNameOf(type);
  return `${source} ${name === undefined ? '' : EVENTS[name].topic}`;
}

/** The event as one CloudEvent in structured mode, as JSON text; `data` keeps its bytes. */
export function structuredText(event: ArchivedEvent): string {
  const { arrival: _arrival, dataText, ...attributes } = event;
  const head = JSON.stringify({ specversion: '1.0', ...attributes, datacontenttype: 'application/json' });
  return `${head.slice(0, -1)},"data":${dataText}}`;
}
