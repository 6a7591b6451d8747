import { TransientError } from '@lineclear/errors';
import type { Kafka, Producer, TopicMessages } from 'kafkajs';
import type { Log } from '../../lane/log.js';
import type { LogPublisher } from '../../outbox/relay.js';
import type { Ack } from '../../outbox/relay-stream.js';
import type { BusRecord } from '../bus.js';
import { PRODUCER_SETTINGS } from './kafka-client.js';
import type { TopicNames } from './topics.js';

/** Sends to Kafka with one idempotent producer, which any failure ends (kafka-client.ts says why). */
export class KafkaPublisher implements LogPublisher {
  #producer: Producer | undefined;

  constructor(
    private readonly kafka: Kafka,
    private readonly names: TopicNames,
    private readonly log: Log,
  ) {}

  async connect(): Promise<string> {
    await this.close();
    const id = await this.#clusterId();
    const producer = this.kafka.producer(PRODUCER_SETTINGS);
    try {
      await producer.connect();
    } catch (error) {
      await this.#end(producer);
      throw error;
    }
    this.#producer = producer;
    return id;
  }

  async send(records: readonly BusRecord[]): Promise<readonly Ack[]> {
    const producer = this.#producer;
    if (producer === undefined) throw new TransientError('broker-unavailable', 'there is no producer; connect first');
    const topicMessages: TopicMessages[] = [...Map.groupBy(records, ({ topic }) => topic)].map(([topic, ofTopic]) => ({
      topic: this.names.wire(topic),
      messages: ofTopic.map(({ partition, key, headers, value }) => ({
        partition,
        key,
        headers: { ...headers },
        value,
      })),
    }));
    try {
      const stored = await producer.sendBatch({ acks: -1, topicMessages });
      return stored.flatMap(({ topicName, partition, baseOffset }) => {
        const topic = this.names.topic(topicName);
        return topic === undefined || baseOffset === undefined
          ? []
          : [{ topic, partition, baseOffset: BigInt(baseOffset) }];
      });
    } catch (error) {
      await this.close();
      throw error;
    }
  }

  async close(): Promise<void> {
    const producer = this.#producer;
    this.#producer = undefined;
    if (producer !== undefined) await this.#end(producer);
  }

  async #clusterId(): Promise<string> {
    const admin = this.kafka.admin();
    try {
      await admin.connect();
      return (await admin.describeCluster()).clusterId;
    } finally {
      await admin.disconnect();
    }
  }

  async #end(producer: Producer): Promise<void> {
    await producer.disconnect().catch((error: unknown) => this.log.warn({ error }, 'a producer did not disconnect'));
  }
}
