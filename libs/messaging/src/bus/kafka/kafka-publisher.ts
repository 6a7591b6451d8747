import type { Topic } from '@lineclear/contracts';
import { TransientError } from '@lineclear/errors';
import type { ISocketFactory, Kafka, Producer, TopicMessages } from 'kafkajs';
import type { Log } from '../../lane/log.js';
import type { BrokerEnd, BrokerView, LogPublisher } from '../../outbox/relay.js';
import type { Ack } from '../../outbox/relay-stream.js';
import type { BusRecord } from '../bus.js';
import { PRODUCER_SETTINGS } from './kafka-client.js';
import { ProducerSockets } from './producer-sockets.js';
import type { TopicNames } from './topics.js';

interface Connected {
  readonly producer: Producer;
  readonly sockets: ProducerSockets;
}

/**
 * Sends to Kafka with one idempotent producer, which ends with any failure (kafka-client.ts says why) and with its first lost connection
 * (producer-sockets.ts). What is inspected after `connect` is therefore what the producer sends to.
 */
export class KafkaPublisher implements LogPublisher {
  #connected: Connected | undefined;

  constructor(
    private readonly newClient: (socketFactory?: ISocketFactory) => Kafka,
    private readonly names: TopicNames,
    private readonly log: Log,
  ) {}

  async connect(): Promise<void> {
    await this.close();
    const sockets = new ProducerSockets();
    const producer = this.newClient(sockets.factory).producer(PRODUCER_SETTINGS);
    try {
      await producer.connect();
    } catch (error) {
      await this.#end(producer);
      throw error;
    }
    sockets.arm();
    this.#connected = { producer, sockets };
  }

  async inspect(topics: readonly Topic[]): Promise<BrokerView> {
    const admin = this.newClient().admin();
    try {
      await admin.connect();
      const { clusterId } = await admin.describeCluster();
      const ends: BrokerEnd[] = [];
      for (const topic of topics)
        for (const { partition, high } of await admin.fetchTopicOffsets(this.names.wire(topic)))
          ends.push({ topic, partition, end: BigInt(high) });
      return { cluster: clusterId, ends };
    } finally {
      await admin.disconnect();
    }
  }

  async send(records: readonly BusRecord[]): Promise<readonly Ack[]> {
    const connected = this.#connected;
    if (connected === undefined)
      throw new TransientError('broker-unavailable', 'there is no connection to the broker; connect first');
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
      const { producer, sockets } = connected;
      const stored = await sockets.during(() => producer.sendBatch({ acks: -1, topicMessages }));
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
    const connected = this.#connected;
    this.#connected = undefined;
    if (connected !== undefined) await this.#end(connected.producer);
  }

  async #end(producer: Producer): Promise<void> {
    await producer.disconnect().catch((error: unknown) => this.log.warn({ error }, 'a producer did not disconnect'));
  }
}
