import { describe, expect, it } from 'vitest';
import { kafkaAvailability } from './availability.js';

const NOTHING = { PATH: '/nonexistent' };

describe('kafkaAvailability', () => {
  it('takes the brokers that KAFKA_BROKERS names', async () => {
    expect(await kafkaAvailability({ ...NOTHING, KAFKA_BROKERS: 'a:1, b:2,' })).toEqual({
      kind: 'external',
      brokers: ['a:1', 'b:2'],
    });
  });

  it('says what is missing', async () => {
    expect(await kafkaAvailability(NOTHING)).toMatchObject({
      kind: 'missing',
      reason: expect.stringContaining('java'),
    });
  });

  it('fails in CI instead of skipping', async () => {
    await expect(kafkaAvailability({ ...NOTHING, CI: 'true' })).rejects.toThrow('no Kafka: java');
  });
});
