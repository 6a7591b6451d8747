import {
  type EventData,
  type EventName,
  eventNameOf,
  type Envelope,
  EVENTS,
  derivedId,
  decodeHeaders,
  type ServiceName,
  shardOf,
  type Topic,
  TOPIC_PRODUCER,
  TOPICS,
} from '@lineclear/contracts';
import { createDataSource, type DatabaseConfig, type Migration, migrate } from '@lineclear/persistence';
import { EmbeddedBus, schemaOfService } from '../bus/embedded/embedded-bus.js';
import type { Bus, BusRecord } from '../bus/bus.js';
import type { NewEvent } from '../lane/batch.js';
import { Lane, type LaneOptions } from '../lane/lane.js';
import type { Executor, Handler } from '../lane/registry.js';
import { SidePool } from '../lane/side-pool.js';
import { encodeEvent } from '../outbox/encoded-event.js';
import { MESSAGING_MIGRATIONS } from '../tables/messaging-tables.js';

/** Schema of the logs that the test writes in place of services that do not run. */
const OUTSIDE = 'outside';

export interface TestWorldOptions {
  /** An empty database of the test's own, as its superuser. */
  readonly database: DatabaseConfig;
  /** Services that run here; the test writes the topics of all others. */
  readonly services: readonly ServiceName[];
  /** Wraps the bus, such as by an injector. */
  readonly wrap?: (bus: Bus) => Bus;
}

export interface TestLaneOptions extends Partial<Omit<LaneOptions, 'service' | 'bus' | 'database'>> {
  readonly service: ServiceName;
  readonly handlers: readonly Handler[];
  readonly executors?: readonly Executor[];
  /** another way to the same database, such as a proxy */
  readonly via?: Pick<DatabaseConfig, 'host' | 'port'>;
  /** another bus than the world's */
  readonly bus?: Bus;
}

/** An event as it is in the log. */
export type SeenEvent = Envelope & { readonly name: EventName; readonly topic: Topic; readonly offset: number };

/**
 * A real database and a real embedded bus around one or more services: publishes events of services that do not run, and reads what those that run have
 * written. Nothing is mocked.
 */
export class TestWorld {
  readonly #pool: SidePool;
  readonly #lanes = new Set<Lane>();
  #bus: EmbeddedBus;
  #wrapped: Bus;
  #published = 0;
  #publishing: Promise<void> = Promise.resolve();

  private constructor(
    private readonly options: TestWorldOptions,
    bus: EmbeddedBus,
  ) {
    this.#pool = new SidePool(options.database, 'test world');
    this.#bus = bus;
    this.#wrapped = options.wrap?.(bus) ?? bus;
  }

  static async open(options: TestWorldOptions): Promise<TestWorld> {
    await migrateSchema(options.database, OUTSIDE, []);
    return new TestWorld(options, await startBus(options));
  }

  /** The bus for services that are started by the test itself. */
  get bus(): Bus {
    return this.#wrapped;
  }

  /** Where that service's tables are; the schema is made and migrated when it is not there. */
  async databaseOf(service: ServiceName, migrations: readonly Migration[] = []): Promise<DatabaseConfig> {
    return await migrateSchema(this.options.database, schemaOfService(service), migrations);
  }

  /** Starts a lane; its schema must have been made by `databaseOf`. */
  async startLane(options: TestLaneOptions): Promise<Lane> {
    const { service, handlers, executors = [], via = {}, bus = this.#wrapped, ...rest } = options;
    const database = { ...this.options.database, ...via, schema: schemaOfService(service) };
    const lane = new Lane({ ...rest, service, database, bus });
    this.#lanes.add(lane);
    await lane.start(handlers, executors);
    return lane;
  }

  /** Appends an event to the log of its topic, as its producer would. @returns its id */
  async publish<N extends EventName>(
    event: NewEvent<N>,
    options: { id?: string; source?: string } = {},
  ): Promise<string> {
    const { topic } = EVENTS[event.name];
    const service = topic === 'tasks' ? 'orchestrator' : TOPIC_PRODUCER[topic];
    this.#published += 1;
    const id = options.id ?? derivedId('test', this.#published);
    const cause = { service, id: `cause-of-${id}`, traceparent: undefined, time: new Date().toISOString() };
    const { headers, value, key } = encodeEvent(event as NewEvent, shardOf(event.key), id, cause);
    const given = JSON.parse(headers) as Record<string, string>;
    await this.publishRaw({ topic, key, headers: { ...given, ce_source: options.source ?? service }, value });
    return id;
  }

  /** Appends any record, valid or not. `partition` defaults to the key's. @returns the record */
  async publishRaw(
    record: Omit<BusRecord, 'offset' | 'partition' | 'event'> & { partition?: number },
  ): Promise<BusRecord> {
    const { topic, key, headers, value } = record;
    const partition = record.partition ?? shardOf(key ?? '');
    const turn = this.#publishing.then(async () => {
      const [row] = await this.#pool.query<{ offset: string }>(
        `INSERT INTO ${OUTSIDE}.outbox (topic, partition, "offset", key, id, headers, data, bucket)
         SELECT $1, $2, coalesce(max("offset") + 1, 0), $3, $4, $5, $6, 0 FROM ${OUTSIDE}.outbox WHERE topic = $1 AND partition = $2
         RETURNING "offset"`,
        [topic, partition, key ?? '', headers['ce_id'] ?? '', JSON.stringify(headers), value ?? ''],
      );
      const appended = { topic, partition, offset: BigInt(row?.offset ?? 0), key, headers, value };
      this.#bus.handOver([appended]);
      return appended;
    });
    this.#publishing = turn.then(
      () => undefined,
      () => undefined,
    );
    return await turn;
  }

  /** All that a service has written to its log, per shard and topic in order. */
  async events(service: ServiceName): Promise<SeenEvent[]> {
    const rows = await this.query<{ topic: Topic; offset: string; headers: string; data: string }>(
      `SELECT topic, "offset", headers, data FROM ${schemaOfService(service)}.outbox ORDER BY partition, topic, "offset"`,
    );
    return rows.map(({ topic, offset, headers, data }) => {
      const attributes = decodeHeaders(JSON.parse(headers) as Record<string, string>);
      const name = eventNameOf(attributes.type) ?? (attributes.type as EventName);
      return { ...attributes, name, topic, offset: Number(offset), data: JSON.parse(data) as EventData<EventName> };
    });
  }

  /** Waits until the service has written an event that matches. @throws Error naming what is there, after `timeoutMs` (10 s) */
  async waitFor(
    service: ServiceName,
    matches: EventName | ((event: SeenEvent) => boolean),
    timeoutMs = 10_000,
  ): Promise<SeenEvent> {
    const until = performance.now() + timeoutMs;
    for (;;) {
      const events = await this.events(service);
      const found = events.find((event) => (typeof matches === 'string' ? event.name === matches : matches(event)));
      if (found !== undefined) return found;
      if (performance.now() > until)
        throw new Error(
          `no such event in ${timeoutMs} ms; there are ${events.map(({ name }) => name).join(', ') || 'none'}`,
        );
      await new Promise((resolve) => void setTimeout(resolve, 10));
    }
  }

  /** Runs one statement as superuser; name tables with their schema, `-` written as `_`. */
  async query<R extends object>(text: string, values: readonly unknown[] = []): Promise<R[]> {
    return await this.#pool.query<R>(text, values);
  }

  /** Ends lanes at once, as kill -9 would, and lets another process start: a new bus on the same database. */
  async crash(): Promise<void> {
    await Promise.all([...this.#lanes].map((lane) => lane.kill()));
    await this.#reopen();
  }

  /** The same after a graceful stop. */
  async restart(): Promise<void> {
    await Promise.all([...this.#lanes].map((lane) => lane.stop()));
    await this.#reopen();
  }

  async #reopen(): Promise<void> {
    this.#lanes.clear();
    await this.#bus.stop();
    this.#bus = await startBus(this.options);
    this.#wrapped = this.options.wrap?.(this.#bus) ?? this.#bus;
  }

  async close(): Promise<void> {
    await Promise.all([...this.#lanes].map((lane) => lane.stop({ drainMs: 0 })));
    await this.#bus.stop();
    await this.#pool.end();
  }
}

async function startBus({ database, services }: TestWorldOptions): Promise<EmbeddedBus> {
  const outside = TOPICS.filter((topic) => topic === 'tasks' || !services.includes(TOPIC_PRODUCER[topic]));
  return await EmbeddedBus.start({ database, logs: Object.fromEntries(outside.map((topic) => [topic, OUTSIDE])) });
}

async function migrateSchema(
  database: DatabaseConfig,
  schema: string,
  migrations: readonly Migration[],
): Promise<DatabaseConfig> {
  const config = { ...database, schema };
  const pool = new SidePool(database, 'test world', 1);
  await pool.query(`CREATE SCHEMA IF NOT EXISTS ${schema}`);
  await pool.end();
  const own = migrations.filter((migration) => !MESSAGING_MIGRATIONS.some(({ name }) => name === migration.name));
  const source = await createDataSource(config, [...MESSAGING_MIGRATIONS, ...own]);
  try {
    await migrate(source);
  } finally {
    await source.destroy();
  }
  return config;
}
