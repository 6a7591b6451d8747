import { CloudEvent as PeerEvent, HTTP, Kafka, type KafkaMessage } from 'cloudevents';
import { InvalidMessageError } from '@lineclear/errors';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeCloudEvent, type WireHeaders } from './cloud-event.js';
import { encodeHeaders } from './envelope.js';

const binary = {
  ce_specversion: '1.0',
  ce_id: 'b1/inv-1',
  ce_source: '/erp/inbox',
  ce_type: 'lineclear.task.submit.v1',
};
const structured = { 'content-type': 'application/cloudevents+json; charset=UTF-8' };
const envelope = { specversion: '1.0', id: 'b1/inv-1', source: '/erp/inbox', type: 'lineclear.task.submit.v1' };
const bytes = (text: string) => new TextEncoder().encode(text);
const decode = (headers: WireHeaders, body: string | Uint8Array | null) =>
  decodeCloudEvent(headers, typeof body === 'string' ? bytes(body) : body, { binding: 'kafka' });
const faultOf = (run: () => unknown): unknown => {
  try {
    run();
  } catch (error) {
    return error;
  }
  throw new Error('nothing was thrown');
};

const outcomeOf = (run: () => unknown): unknown => {
  try {
    run();
    return 'decoded';
  } catch (error) {
    return error instanceof InvalidMessageError ? error.code : error;
  }
};

describe('binary mode', () => {
  it('gives attributes, extensions and the data as it was sent', () => {
    const event = decode({ ...binary, ce_tenant: Buffer.from('acme'), other: 'x' }, '{"n": 12345678901234567890}');
    expect(event.attributes).toEqual({ ...envelope, tenant: 'acme' });
    expect(event.dataText).toBe('{"n": 12345678901234567890}');
  });

  it('reads percent-encoded HTTP headers', () => {
    const headers = { 'ce-specversion': '1.0', 'ce-id': 'caf%C3%A9%201', 'ce-source': '/s', 'ce-type': 't' };
    expect(decodeCloudEvent(headers, bytes('{}'), { binding: 'http' }).attributes.id).toBe('café 1');
  });

  it('takes JSON content types, and none at all', () => {
    for (const type of [undefined, 'application/json', 'Application/JSON; charset="utf-8"', 'application/vnd.x+json'])
      expect(decode({ ...binary, 'content-type': type }, '{}').data).toEqual({});
  });
});

describe('structured mode', () => {
  it('keeps the source text of data', () => {
    const text = `{"data": {"n": 1e400, "k":1.10}, ${JSON.stringify({ ...envelope, tenant: 'acme', count: 3, ok: true, none: null }).slice(1)}`;
    const event = decode(structured, text);
    expect(event.dataText).toBe('{"n": 1e400, "k":1.10}');
    expect(event.attributes).toEqual({ ...envelope, tenant: 'acme', count: '3', ok: 'true' });
  });

  it('reads data_base64', () => {
    const text = JSON.stringify({ ...envelope, data_base64: Buffer.from('{"a":"ü"}').toString('base64') });
    expect(decode(structured, text).dataText).toBe('{"a":"ü"}');
  });
});

describe('a message that is no event', () => {
  const long = 'x'.repeat(1025);
  it.each<[string, WireHeaders, string | Uint8Array | null, string]>([
    ['tombstone', binary, null, 'value'],
    ['no headers', {}, '{}', 'ce_specversion'],
    ['tombstone without headers', {}, null, 'ce_specversion'],
    ['older CloudEvents', { ...binary, ce_specversion: '0.3' }, '{}', 'specversion'],
    ['no id', { ...binary, ce_id: undefined }, '{}', 'id'],
    ['empty id', { ...binary, ce_id: '' }, '{}', 'id'],
    ['no source', { ...binary, ce_source: undefined }, '{}', 'source'],
    ['no type', { ...binary, ce_type: undefined }, '{}', 'type'],
    ['repeated id', { ...binary, ce_id: ['a', 'b'] }, '{}', 'ce_id'],
    ['long id', { ...binary, ce_id: long }, '{}', 'id'],
    ['control character', { ...binary, ce_id: 'a\u0000b' }, '{}', 'id'],
    ['half a surrogate pair in a header', { ...binary, ce_id: 'a\ud800' }, '{}', 'id'],
    ['bad time', { ...binary, ce_time: 'yesterday' }, '{}', 'time'],
    ['empty subject', { ...binary, ce_subject: '' }, '{}', 'subject'],
    ['header not UTF-8', { ...binary, ce_id: new Uint8Array([0xff]) }, '{}', 'ce_id'],
    ['no JSON', binary, 'hello', 'data'],
    ['empty value', binary, '', 'data'],
    ['value not UTF-8', binary, new Uint8Array([0x22, 0xff, 0x22]), 'value'],
    ['U+0000 in data', binary, '{"a":["\\u0000"]}', 'data'],
    ['half a surrogate pair in a key', binary, '{"\\ud800":1}', 'data'],
    ['other content type', { ...binary, 'content-type': 'text/plain' }, '{}', 'content-type'],
    ['other charset', { ...binary, 'content-type': 'application/json; charset=latin1' }, '{}', 'content-type'],
    ['batch', { 'content-type': 'application/cloudevents-batch+json' }, '[]', 'content-type'],
    ['other format', { 'content-type': 'application/cloudevents+avro' }, '{}', 'content-type'],
    ['structured tombstone', structured, null, 'value'],
    ['structured, no JSON', structured, '{"id"', 'value'],
    ['structured array', structured, '[]', 'value'],
    ['structured without data', structured, JSON.stringify(envelope), 'data'],
    [
      'structured with an object as attribute',
      structured,
      JSON.stringify({ ...envelope, subject: {}, data: 1 }),
      'subject',
    ],
    ['structured with a bad name', structured, JSON.stringify({ ...envelope, Tenant: 'a', data: 1 }), 'Tenant'],
    [
      'structured, data of another type',
      structured,
      JSON.stringify({ ...envelope, datacontenttype: 'text/xml', data: '' }),
      'content-type',
    ],
  ])('is refused: %s', (_name, headers, body, where) => {
    expect(faultOf(() => decode(headers, body))).toMatchObject({
      code: 'invalid-message',
      details: { where, seen: expect.any(String), expected: expect.any(String) },
    });
  });

  it('is refused with the attributes that could be read', () => {
    expect(faultOf(() => decode({ ...binary, ce_tenant: 'acme' }, 'no json'))).toMatchObject({
      message: '`data` must be JSON, seen `no json`',
      details: { attributes: { id: 'b1/inv-1', source: '/erp/inbox', tenant: 'acme' } },
    });
  });

  it('is refused when the data is larger than the limit, counted in bytes', () => {
    const within = JSON.stringify('é'.repeat(131_071));
    expect(decode(binary, within).dataText).toBe(within);
    expect(faultOf(() => decode(binary, JSON.stringify('é'.repeat(131_072))))).toMatchObject({ code: 'too-large' });
  });

  it('never ends in anything but the refusal', () => {
    const value = fc.oneof(fc.string(), fc.uint8Array(), fc.constant(undefined), fc.array(fc.string()));
    const names = fc.constantFrom(...Object.keys(binary), 'content-type', 'ce_time', 'ce_x');
    fc.assert(
      fc.property(fc.dictionary(names, value), fc.option(fc.oneof(fc.json(), fc.string())), (headers, body) => {
        const outcome = outcomeOf(() => decode({ ...binary, ...headers }, body));
        expect(['decoded', 'invalid-message']).toContain(outcome);
      }),
    );
  });
});

const peerEvent = (data: unknown) =>
  new PeerEvent({
    id: 'i-1',
    source: '/s',
    type: 'lineclear.x.v1',
    tenant: 'acme',
    datacontenttype: 'application/json',
    time: '2026-11-30T03:00:00.000Z',
    data,
  });
const attributes = {
  specversion: '1.0',
  id: 'i-1',
  source: '/s',
  type: 'lineclear.x.v1',
  tenant: 'acme',
  time: '2026-11-30T03:00:00.000Z',
};

describe('the package cloudevents as an independent peer', () => {
  it('is understood in both modes on Kafka, whatever the data', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string({ unit: 'grapheme' }), fc.jsonValue()), (data) => {
        fc.pre(!/\\u(0000|d[89a-f])/i.test(JSON.stringify(data)));
        const sent = Kafka.binary(peerEvent(data));
        const fromBinary = decode(sent.headers as WireHeaders, JSON.stringify(sent.value));
        const whole = Kafka.structured(peerEvent(data));
        const fromStructured = decode(whole.headers as WireHeaders, String(whole.value));
        const expected: unknown = JSON.parse(JSON.stringify(data));
        expect([fromBinary.attributes, fromBinary.data]).toEqual([attributes, expected]);
        expect([fromStructured.attributes, fromStructured.data]).toEqual([attributes, expected]);
      }),
    );
  });

  it('is understood in both modes on HTTP', () => {
    for (const message of [HTTP.binary(peerEvent({ a: 1 })), HTTP.structured(peerEvent({ a: 1 }))]) {
      const event = decodeCloudEvent(message.headers as WireHeaders, bytes(String(message.body)), { binding: 'http' });
      expect([event.attributes, event.data]).toEqual([attributes, { a: 1 }]);
    }
  });

  it('understands our headers', () => {
    const headers = encodeHeaders({
      id: 'e1',
      source: '/orchestrator',
      type: 'lineclear.run.started.v1',
      subject: 'run_1',
      time: '2026-11-30T03:00:00.000Z',
      tenant: 'acme',
      correlationid: 'run_1',
      confidentiality: 'internal',
      integrity: 'trusted',
    });
    const message: KafkaMessage = { key: 'run_1', headers, value: '{"a":1}', body: '{"a":1}', timestamp: '0' };
    expect(Kafka.toEvent(message)).toMatchObject({
      id: 'e1',
      subject: 'run_1',
      tenant: 'acme',
      integrity: 'trusted',
      data: { a: 1 },
    });
  });
});
