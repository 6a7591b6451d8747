import { z } from 'zod';
import { EVENTS, type EventName, eventType } from './events/catalogue.js';

/** JSON Schema 2020-12 of every event's data, keyed by wire type; generated, never written by hand. */
export function eventJsonSchemas(): Record<string, Record<string, unknown>> {
  const names = Object.keys(EVENTS) as EventName[];
  return Object.fromEntries(
    names.map((name) => [
      eventType(name),
      { title: eventType(name), ...z.toJSONSchema(EVENTS[name].schema, { io: 'input' }) },
    ]),
  );
}
