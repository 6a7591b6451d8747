import { randomUUID } from 'node:crypto';
import { type ServiceName, SHARD_COUNT, type Topic } from '@lineclear/contracts';
import { createDataSource, type DatabaseConfig, type Migration, migrate } from '@lineclear/persistence';
import { eventually, sharedKafka, testDatabase } from '@lineclear/test-kit';
import type { Admin, Producer } from 'kafkajs';
import { Lane } from '../../lane/lane.js';
import { SILENT } from '../../lane/log.js';
import type { Handler } from '../../lane/registry.js';
import { SidePool } from '../../lane/side-pool.js';
import { MESSAGING_MIGRATIONS } from '../../tables/messaging-tables.js';
import type { Bus } from '../bus.js';
import type { BusWorld, RawRecord } from '../bus.testsuite.js';
import { emitter, type Tallies, TallyTable1764400000001 } from '../tally.testsuite.js';
import { KafkaBus } from './kafka-bus.js';
import { kafkaClient, PRODUCER_SETTINGS } from './kafka-client.js';
import { TopicNames } from './topics.js';

/** What the producer (policy engine) and the consumer (tool registry) write and read. */
const TOPICS_HERE: readonly Topic[] = ['runs', 'policy', 'policies', 'approvals', 'catalog', 'tools'];
const QUEUED_BYTES_LIMIT = 1 << 20;

const schemaOf = (service: ServiceName): string => service.replaceAll('-', '_');

interface Running {
  readonly lane: Lane;
  readonly bus: KafkaBus;
}

/** An installation of its own: topics and groups under a prefix, and a database. Each lane has its own bus, as in a process of its own. */
export class KafkaWorld implements BusWorld {
  readonly queuedBytesLimit = QUEUED_BYTES_LIMIT;
  readonly #running = new Set<Running>();

  private constructor(
    readonly brokers: readonly string[],
    readonly prefix: string,
    readonly admin: Admin,
    private readonly producer: Producer,
    private readonly database: DatabaseConfig,
    private readonly pool: SidePool,
  ) {}

  /** @param given default: the brokers of the test process */
  static async open(given?: readonly string[]): Promise<KafkaWorld> {
    const brokers = given ?? (await sharedKafka());
    const kafka = kafkaClient({ brokers, clientId: 'test', log: SILENT });
    const [admin, producer] = [kafka.admin(), kafka.producer(PRODUCER_SETTINGS)];
    await Promise.all([admin.connect(), producer.connect()]);
    const prefix = `t${randomUUID().slice(0, 8)}.`;
    const [database] = await Promise.all([newDatabase(), createTopics(admin, new TopicNames(prefix), TOPICS_HERE)]);
    const pool = new SidePool(database, 'test', 2);
    return new KafkaWorld(brokers, prefix, admin, producer, database, pool);
  }

  startProducer(): Promise<Lane> {
    return this.#start('policy-engine', emitter.handlers);
  }

  startConsumer(tallies: Tallies, wrap?: (bus: Bus) => Bus): Promise<Lane> {
    return this.#start('tool-registry', tallies.handlers, wrap);
  }

  async stop(lane: Lane): Promise<void> {
    const found = [...this.#running].find((one) => one.lane === lane);
    if (found === undefined) return;
    this.#running.delete(found);
    await lane.stop();
    await found.bus.stop();
  }

  /** The lanes end at once; their members leave the groups in order, since a session's time-out is not what is tested. */
  async crash(): Promise<void> {
    const running = [...this.#running];
    this.#running.clear();
    await Promise.all(running.map(({ lane }) => lane.kill()));
    await Promise.all(running.map(({ bus }) => bus.stop()));
  }

  publishRaw({ topic, partition, key, headers, value }: RawRecord): Promise<unknown> {
    const wire = new TopicNames(this.prefix).wire(topic);
    return this.producer.send({ topic: wire, messages: [{ partition, key, headers: { ...headers }, value }] });
  }

  /** Makes the world's topics where they are missing. On a new connection: kafkajs asks an old one for topics that are gone. */
  async createTopics(topics: readonly Topic[] = TOPICS_HERE): Promise<void> {
    const admin = kafkaClient({ brokers: this.brokers, clientId: 'test', log: SILENT }).admin();
    await admin.connect();
    await createTopics(admin, new TopicNames(this.prefix), topics);
    await admin.disconnect();
  }

  query<R extends object>(text: string, values: readonly unknown[] = []): Promise<R[]> {
    return this.pool.query<R>(text, values);
  }

  async close(): Promise<void> {
    await Promise.all([...this.#running].map(({ lane }) => this.stop(lane)));
    await deleteTopics(this.admin, this.prefix);
    await Promise.all([this.admin.disconnect(), this.producer.disconnect(), this.pool.end()]);
  }

  async #start(service: ServiceName, handlers: readonly Handler[], wrap = (bus: Bus) => bus): Promise<Lane> {
    const database = { ...this.database, schema: schemaOf(service) };
    const bus = new KafkaBus({
      brokers: this.brokers,
      clientId: service,
      databaseOf: () => database,
      prefix: this.prefix,
      queuedBytesLimit: QUEUED_BYTES_LIMIT,
    });
    const lane = new Lane({ service, database, bus: wrap(bus) });
    this.#running.add({ lane, bus });
    await lane.start(handlers);
    return lane;
  }
}

async function newDatabase(): Promise<DatabaseConfig> {
  const server = await testDatabase();
  const template = await server.template('kafka bus', async (config) => {
    await migrateSchema(config, 'policy-engine', []);
    await migrateSchema(config, 'tool-registry', [TallyTable1764400000001]);
  });
  return await server.createDatabase({ template });
}

async function migrateSchema(
  database: DatabaseConfig,
  service: ServiceName,
  more: readonly Migration[],
): Promise<void> {
  const pool = new SidePool(database, 'test', 1);
  await pool.query(`CREATE SCHEMA ${schemaOf(service)}`);
  await pool.end();
  const source = await createDataSource({ ...database, schema: schemaOf(service) }, [...MESSAGING_MIGRATIONS, ...more]);
  await migrate(source);
  await source.destroy();
}

/** Makes the topics that are missing, and waits until their partitions have leaders. */
export async function createTopics(admin: Admin, names: TopicNames, topics: readonly Topic[]): Promise<void> {
  const existing = new Set(await admin.listTopics());
  const missing = topics.map((topic) => names.wire(topic)).filter((topic) => !existing.has(topic));
  const configs = missing.map((topic) => ({ topic, numPartitions: SHARD_COUNT, replicationFactor: 1 }));
  if (missing.length > 0) await admin.createTopics({ topics: configs, waitForLeaders: false });
  for (const topic of missing) await eventually(() => admin.fetchTopicOffsets(topic), { timeoutMs: 30_000 });
}

/** A broker keeps some files and memory for every partition. */
export async function deleteTopics(admin: Admin, prefix: string): Promise<void> {
  const topics = (await admin.listTopics()).filter((topic) => topic.startsWith(prefix));
  if (topics.length > 0) await admin.deleteTopics({ topics });
}
