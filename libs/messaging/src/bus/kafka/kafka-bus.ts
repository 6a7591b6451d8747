import type { ServiceName, Topic } from '@lineclear/contracts';
import type { DatabaseConfig } from '@lineclear/persistence';
import type { ISocketFactory } from 'kafkajs';
import { type Log, SILENT } from '../../lane/log.js';
import { Relay } from '../../outbox/relay.js';
import type { Bus, BusMembership, BusPosition, BusRecord, BusSink, JoinOptions } from '../bus.js';
import { LogReader } from '../embedded/log-reader.js';
import { kafkaClient } from './kafka-client.js';
import { KafkaPublisher } from './kafka-publisher.js';
import { fileMemberStore } from './member-store.js';
import { ShardConsumer } from './shard-consumer.js';
import { TopicNames } from './topics.js';

export interface KafkaBusOptions {
  /** `host:port` of some brokers */
  readonly brokers: readonly string[];
  readonly clientId: string;
  /** Where a service's outbox is. */
  readonly databaseOf: (service: ServiceName) => DatabaseConfig;
  /** Before every topic and group, so that installations can share a cluster; default none. CAUTION: fixed at installation. */
  readonly prefix?: string;
  /** A folder of this replica alone: with it, a replica that is started again after a crash has its shards back at once. */
  readonly memberFolder?: string;
  /** Reading waits while the lane holds more; default 8 MiB. */
  readonly queuedBytesLimit?: number;
  readonly log?: Log;
}

/**
 * CAUTION: a group holds the positions of its service. Another name makes every service read all topics from their beginning.
 */
const groupOf = (service: ServiceName): string => service;

/** The bus over Apache Kafka: any number of replicas of each service, shards assigned by the service's group, positions with the broker. */
export class KafkaBus implements Bus {
  readonly positions = 'broker';
  readonly isExclusive = false;
  readonly #members = new Set<KafkaMember>();

  constructor(private readonly options: KafkaBusOptions) {}

  /** Resolves before the group has been joined, also while no broker answers; `ready` tells. `tasks` is left to the ingress. */
  join(options: JoinOptions): Promise<BusMembership> {
    const member = new KafkaMember(options, this.options);
    this.#members.add(member);
    return Promise.resolve(member);
  }

  async stop(): Promise<void> {
    await Promise.all([...this.#members].map((member) => member.stop()));
  }
}

/** One service's membership: its consumer, and the relay of its log for the shards that the consumer owns. */
class KafkaMember implements BusMembership {
  readonly #consumer: ShardConsumer;
  readonly #relay: Relay;
  readonly #reader: LogReader;
  #stopped: Promise<void> | undefined;

  constructor({ service, topics, sink }: JoinOptions, options: KafkaBusOptions) {
    const { brokers, clientId, databaseOf, prefix, memberFolder, queuedBytesLimit = 8 << 20, log = SILENT } = options;
    const names = new TopicNames(prefix);
    const database = databaseOf(service);
    const client = { brokers, clientId, log };
    const newClient = (socketFactory?: ISocketFactory) => kafkaClient({ ...client, retries: 2, socketFactory });
    this.#reader = new LogReader(database);
    this.#relay = new Relay({
      sink,
      outbox: { read: (topic, cursors) => this.#reader.read(database.schema, topic, cursors) },
      publisher: new KafkaPublisher(newClient, names, log),
      log,
    });
    this.#consumer = new ShardConsumer({
      kafka: kafkaClient(client),
      names,
      group: names.group(groupOf(service)),
      topics: topics.filter((topic) => !IS_INGRESS.has(topic)),
      sink: this.#withRelay(sink),
      members: memberFolder === undefined ? undefined : fileMemberStore(memberFolder),
      queuedBytesLimit,
      log,
    });
    this.#relay.start();
    this.#consumer.start();
  }

  acknowledge(positions: readonly BusPosition[]): void {
    this.#consumer.acknowledge(positions);
  }

  appended(records: readonly BusRecord[]): void {
    this.#relay.appended(records);
  }

  ready(): boolean {
    return this.#consumer.ready() && this.#relay.ready();
  }

  retake(shards: readonly number[]): Promise<void> {
    this.#consumer.retake(shards);
    return Promise.resolve();
  }

  drained(): void {
    this.#consumer.drained();
  }

  pause(): Promise<void> {
    this.#consumer.pause();
    return Promise.resolve();
  }

  stop(): Promise<void> {
    this.#stopped ??= this.#relay
      .stop()
      .then(() => this.#consumer.stop())
      .then(() => this.#reader.end());
    return this.#stopped;
  }

  /** The relay sends a shard's log from when the lane owns the shard until it gives it back. */
  #withRelay(sink: BusSink): Pick<BusSink, 'assigned' | 'revoked' | 'deliver' | 'failed'> {
    return {
      assigned: async (shards) => {
        const positions = await sink.assigned(shards);
        this.#relay.assigned(shards);
        return positions;
      },
      revoked: async (shards) => {
        this.#relay.revoked(shards);
        await sink.revoked(shards);
      },
      deliver: (records) => sink.deliver(records),
      failed: (error) => sink.failed(error),
    };
  }
}

/** Written by any client with any partitioner: its partitions are no shards. */
const IS_INGRESS: ReadonlySet<Topic> = new Set<Topic>(['tasks']);
