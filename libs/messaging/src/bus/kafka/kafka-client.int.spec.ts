import { createRequire } from 'node:module';
import { kafkaAvailability, sharedKafka } from '@lineclear/test-kit';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { type Log, SILENT } from '../../lane/log.js';
import { kafkaClient, PRODUCER_SETTINGS } from './kafka-client.js';
import { KafkaPublisher } from './kafka-publisher.js';
import { TopicNames } from './topics.js';

const availability = await kafkaAvailability();
const queue = createRequire(import.meta.url)('kafkajs/src/network/requestQueue') as {
  prototype: { checkPendingRequests: () => void };
};

describe.skipIf(availability.kind === 'missing')('kafkajs as we set it up', () => {
  afterEach(() => vi.restoreAllMocks());

  it('runs no timer on an idle connection', async () => {
    const kafka = kafkaClient({ brokers: await sharedKafka(), clientId: 'test', log: SILENT });
    const producer = kafka.producer(PRODUCER_SETTINGS);
    await producer.connect();
    const started = performance.now();
    const checks = vi.spyOn(queue.prototype, 'checkPendingRequests');
    await vi.waitUntil(() => performance.now() > started + 200, { interval: 50 });
    expect(checks.mock.calls.length).toBeLessThan(5);
    await producer.disconnect();
  });

  it('logs nothing at a usual start and end', async () => {
    const lines: unknown[] = [];
    const note = (fields: object, message: string) => void lines.push({ fields, message });
    const log: Log = { info: note, warn: note, error: note };
    const kafka = kafkaClient({ brokers: await sharedKafka(), clientId: 'test', log });
    const producer = kafka.producer(PRODUCER_SETTINGS);
    await producer.connect();
    await producer.disconnect();
    expect(lines).toEqual([]);
  });

  it('refuses to send without a producer, and after a failed send until it has connected anew', async () => {
    const kafka = kafkaClient({ brokers: await sharedKafka(), clientId: 'test', log: SILENT });
    const publisher = new KafkaPublisher(() => kafka, new TopicNames('not.there.'), SILENT);
    const record = { topic: 'runs', partition: 0, offset: 0n, key: 'k', headers: {}, value: '{}' } as const;
    await expect(publisher.send([record])).rejects.toMatchObject({ code: 'broker-unavailable' });
    await publisher.connect();
    await expect(publisher.send([record])).rejects.not.toMatchObject({ code: 'broker-unavailable' });
    await expect(publisher.send([record])).rejects.toMatchObject({ code: 'broker-unavailable' });
    await publisher.connect();
    await expect(publisher.send([])).resolves.toEqual([]);
    await publisher.close();
  });
});
