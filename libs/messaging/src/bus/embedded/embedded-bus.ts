import {
  type ServiceName,
  SERVICES,
  SHARD_COUNT,
  type Topic,
  TOPIC_PRODUCER,
  topicsReadBy,
} from '@lineclear/contracts';
import { ConfigError, TransientError } from '@lineclear/errors';
import { type DatabaseConfig, holdInstanceLock, type InstanceLock } from '@lineclear/persistence';
import { type Log, SILENT } from '../../lane/log.js';
import type { Bus, BusMembership, BusRecord, JoinOptions } from '../bus.js';
import { LogReader } from './log-reader.js';
import { Member } from './member.js';

export interface EmbeddedBusOptions {
  /** May read the outbox of every service. Its database is locked: a second process on it gets a ConfigError. */
  readonly database: DatabaseConfig;
  /** Schema of a service, default its name with `_` for `-`. */
  readonly schemaOf?: (service: ServiceName) => string;
  /** Schemas of logs that no service of this process writes, such as those of a test. */
  readonly logs?: Readonly<Partial<Record<Topic, string>>>;
  readonly log?: Log;
}

export const schemaOfService = (service: ServiceName): string => service.replaceAll('-', '_');

/**
 * The bus of one process over one database: services read each other's outbox logs. Events are handed over in the process right after their
 * commit; whoever misses one, or is not the next in line, reads the table. Positions are in the lanes' statements.
 */
export class EmbeddedBus implements Bus {
  readonly positions = 'lane';
  readonly isExclusive = true;
  readonly #members = new Set<Member>();
  readonly #reader: LogReader;
  #lock: InstanceLock | undefined;
  #isStopped = false;

  private constructor(private readonly options: EmbeddedBusOptions) {
    this.#reader = new LogReader(options.database);
  }

  /** @throws ConfigError when another process has the database; TransientError */
  static async start(options: EmbeddedBusOptions): Promise<EmbeddedBus> {
    const bus = new EmbeddedBus(options);
    await bus.#holdLock();
    return bus;
  }

  async join(options: JoinOptions): Promise<BusMembership> {
    const member = new Member(options, {
      reader: this.#reader,
      log: this.options.log ?? SILENT,
      schemaOf: (topic) => this.#schemaOf(topic),
      handOver: (records) => this.handOver(records),
      grew: (service) => this.#markUnread(service),
      readTo: (topic, partition) => this.#readTo(topic, partition),
      left: (self) => this.#members.delete(self),
    });
    this.#members.add(member);
    await member.assign(Array.from({ length: SHARD_COUNT }, (_, shard) => shard));
    this.#markUnread(options.service);
    return member;
  }

  /** Records that were committed to a log just now. Public for logs that no lane writes. */
  handOver(records: readonly BusRecord[]): void {
    const [first] = records;
    if (first === undefined) return;
    const isOneTopic = records.every(({ topic }) => topic === first.topic);
    const byTopic = isOneTopic ? [[first.topic, records] as const] : Map.groupBy(records, ({ topic }) => topic);
    for (const [topic, ofTopic] of byTopic)
      for (const member of this.#members) if (member.reads(topic)) member.offer(topic, ofTopic);
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    for (const member of this.#members) await member.stop();
    await this.#reader.end();
    await this.#lock?.release();
  }

  #schemaOf(topic: Topic): string | undefined {
    const { logs, schemaOf = schemaOfService } = this.options;
    if (logs?.[topic] !== undefined) return logs[topic];
    return topic === 'tasks' ? undefined : schemaOf(TOPIC_PRODUCER[topic]);
  }

  #readTo(topic: Topic, partition: number): bigint | undefined {
    let least = BigInt(Number.MAX_SAFE_INTEGER);
    for (const service of SERVICES) {
      if (!topicsReadBy(service).includes(topic)) continue;
      const member = [...this.#members].find((other) => other.service === service);
      const position = member?.acknowledgedTo(topic, partition);
      if (position === undefined) return undefined;
      if (position < least) least = position;
    }
    return least;
  }

  #markUnread(service: ServiceName): void {
    for (const member of this.#members) member.markUnread(service);
  }

  async #holdLock(): Promise<void> {
    this.#lock = await holdInstanceLock(this.options.database);
    void this.#lock.lost.then(({ expected }) => {
      if (!expected && !this.#isStopped) void this.#holdAgain();
    });
  }

  /** The lock's session was lost, most likely with PostgreSQL itself. Another process may have the database by now: then this one must end. */
  async #holdAgain(): Promise<void> {
    for (let attempt = 0; !this.#isStopped; attempt += 1) {
      try {
        return await this.#holdLock();
      } catch (error) {
        if (error instanceof TransientError && !(error instanceof ConfigError)) {
          await new Promise((resolve) => void setTimeout(resolve, Math.min(2_000, 100 * 2 ** attempt)));
          continue;
        }
        for (const member of this.#members) member.failed(error);
        return;
      }
    }
  }
}
