import { describe, expect, it } from 'vitest';
import { decodeHeaders, encodeHeaders, type EnvelopeAttributes } from './envelope.js';

const attributes: EnvelopeAttributes = {
  id: 'e1',
  source: '/orchestrator',
  type: 'lineclear.run.started.v1',
  subject: 'run_1',
  time: '2026-11-30T03:00:00.000Z',
  tenant: 'acme',
  correlationid: 'run_1',
  causationid: 'c1',
  traceparent: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01',
  confidentiality: 'internal',
  integrity: 'trusted',
};

describe('binary-mode headers', () => {
  it('carry every attribute there and back', () => {
    expect(decodeHeaders(encodeHeaders(attributes))).toEqual(attributes);
  });

  it('are CloudEvents 1.0 by name', () => {
    expect(encodeHeaders(attributes)).toMatchObject({
      ce_specversion: '1.0',
      ce_id: 'e1',
      'content-type': 'application/json',
    });
  });

  it.each([
    ['ce_specversion', '0.3'],
    ['ce_specversion', undefined],
    ['ce_id', ''],
    ['ce_tenant', undefined],
    ['ce_time', 'yesterday'],
    ['ce_integrity', 'verified'],
  ])('are refused with the header named when %s is %s', (name, value) => {
    const headers: Record<string, string> = encodeHeaders(attributes);
    if (value === undefined) delete headers[name];
    else headers[name] = value;
    expect(() => decodeHeaders(headers)).toThrow(
      expect.objectContaining({ code: 'invalid-message', details: expect.objectContaining({ where: name }) }),
    );
  });
});
