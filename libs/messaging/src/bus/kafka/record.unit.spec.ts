import type { KafkaMessage } from 'kafkajs';
import { describe, expect, it } from 'vitest';
import { busRecord } from './record.js';

const message = (parts: Partial<Pick<KafkaMessage, 'key' | 'value' | 'headers'>>): KafkaMessage => ({
  key: Buffer.from('k'),
  value: Buffer.from('{}'),
  timestamp: '0',
  attributes: 0,
  offset: '9007199254740993',
  headers: {},
  ...parts,
});

describe('a message of Kafka', () => {
  it('becomes a record with its exact offset', () => {
    const headers = { ce_id: Buffer.from('é'), many: [Buffer.from('a'), 'b'] };
    expect(busRecord('runs', 3, message({ headers }))).toEqual({
      topic: 'runs',
      partition: 3,
      offset: 9007199254740993n,
      key: 'k',
      headers: { ce_id: 'é', many: 'a,b' },
      value: '{}',
    });
  });

  it('keeps a tombstone and a missing key as null', () => {
    expect(busRecord('runs', 3, message({ key: null, value: null }))).toMatchObject({ key: null, value: null });
  });

  it('holds nothing that PostgreSQL cannot store', () => {
    const nul = Buffer.from('a\u0000b');
    const record = busRecord(
      'runs',
      3,
      message({ key: nul, value: Buffer.from([0xff, 0x00]), headers: { 'x\u0000': nul } }),
    );
    expect(record).toMatchObject({ key: 'a\ufffdb', value: '\ufffd\ufffd', headers: { 'x\ufffd': 'a\ufffdb' } });
  });
});
