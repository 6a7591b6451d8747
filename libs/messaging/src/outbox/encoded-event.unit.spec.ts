import { encodeHeaders } from '@lineclear/contracts';
import { describe, expect, it } from 'vitest';
import type { NewEvent } from '../lane/batch.js';
import { encodeEvent, headersText, LoggedRecord } from './encoded-event.js';

const CAUSE = {
  service: 'tool-registry',
  id: 'cause',
  traceparent: '00-a-b-01',
  time: '2026-11-30T00:00:00.000Z',
} as const;

const event = (text: string): NewEvent<'run.fenced'> => ({
  name: 'run.fenced',
  key: text,
  tenant: text,
  data: { n: 1, open: [], settled: [] },
  sequence: 7,
});

describe('an encoded event', () => {
  it.each(['plain', 'with "quotes" and \\', 'line\nbreak', '\u0000', '\ud800', 'ü 北 🌍'])(
    'has the headers that the contracts write, for %j too',
    (text) => {
      const { event: envelope, headers } = encodeEvent(event(text) as NewEvent, 3, 'id', CAUSE);
      if (envelope === undefined) throw new Error('no envelope');
      const { data, ...attributes } = envelope;
      expect(headers).toBe(JSON.stringify(encodeHeaders(attributes)));
      expect(headersText(attributes)).toBe(headers);
      expect(data).toEqual({ n: 1, open: [], settled: [] });
    },
  );

  it('is a record whose headers are there for who looks', () => {
    const record = new LoggedRecord(encodeEvent(event('k') as NewEvent, 3, 'id', CAUSE), 5n);
    expect(record).toMatchObject({ topic: 'tools', partition: 3, offset: 5n, key: 'k' });
    expect(record.headers).toMatchObject({ ce_id: 'id', ce_subject: 'k', ce_causationid: 'cause' });
  });
});
