import { randomUUID } from 'node:crypto';
import { mkdtemp } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Admin, ISocketFactory, Kafka, Producer } from 'kafkajs';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { eventually, kafkaAvailability, sharedKafka } from '@lineclear/test-kit';
import { SILENT } from '../../lane/log.js';
import type { BusPosition, BusRecord, BusSink } from '../bus.js';
import { kafkaClient, PRODUCER_SETTINGS } from './kafka-client.js';
import { createTopics, deleteTopics } from './kafka-world.testsuite.js';
import { fileMemberStore } from './member-store.js';
import { ShardConsumer, type ShardConsumerOptions } from './shard-consumer.js';
import { TopicNames } from './topics.js';

/** A lane that only notes what it is told. */
class NotingSink implements Pick<BusSink, 'assigned' | 'revoked' | 'deliver' | 'failed'> {
  readonly owned = new Set<number>();
  readonly records: BusRecord[] = [];
  readonly calls: string[] = [];
  readonly failures: unknown[] = [];
  queuedBytes = 0;
  refusals = 0;
  fault: unknown;
  /** times that it was asked how full it is */
  looks = 0;

  assigned(shards: readonly number[]): Promise<readonly BusPosition[]> {
    this.calls.push(`assigned ${shards.length}`);
    if (this.refusals-- > 0) return Promise.reject(new Error('database away'));
    for (const shard of shards) this.owned.add(shard);
    return Promise.resolve([]);
  }

  revoked(shards: readonly number[]): Promise<void> {
    this.calls.push(`revoked ${shards.length}`);
    for (const shard of shards) this.owned.delete(shard);
    return Promise.resolve();
  }

  deliver(records: readonly BusRecord[]): number {
    if (records.length > 0 && this.fault !== undefined) throw this.fault;
    for (const record of records) if (!this.owned.has(record.partition)) this.failures.push('not owned');
    this.records.push(...records);
    if (records.length === 0) this.looks += 1;
    return this.queuedBytes;
  }

  failed(error: unknown): void {
    this.failures.push(error);
  }

  values(): (string | null)[] {
    return this.records.map(({ value }) => value);
  }

  /** next offset per partition of what was delivered */
  positions(): BusPosition[] {
    const next = new Map<string, BusPosition>();
    for (const { topic, partition, offset } of this.records)
      next.set(`${topic}/${partition}`, { topic, partition, next: offset + 1n });
    return [...next.values()];
  }
}

/** A process that dies says nothing more to anybody. */
class Network {
  readonly #sockets: Socket[] = [];
  #isCut = false;

  readonly factory: ISocketFactory = ({ host, port, onConnect }) => {
    if (this.#isCut) throw new Error('dead');
    const socket = connect({ host, port }, onConnect);
    this.#sockets.push(socket);
    return socket;
  };

  cut(): void {
    this.#isCut = true;
    for (const socket of this.#sockets) socket.destroy();
  }
}

/** of all topics of this file */
const PREFIX = `t${randomUUID().slice(0, 8)}.`;
const availability = await kafkaAvailability();
if (availability.kind === 'missing') process.stderr.write(`skipped: ${availability.reason}\n`);

describe.skipIf(availability.kind === 'missing')('a member of a group on Kafka', () => {
  let kafka: Kafka;
  let admin: Admin;
  let producer: Producer;
  const stops: (() => Promise<void>)[] = [];

  beforeAll(async () => {
    kafka = kafkaClient({ brokers: await sharedKafka(), clientId: 'test', log: SILENT });
    admin = kafka.admin();
    producer = kafka.producer(PRODUCER_SETTINGS);
    await Promise.all([admin.connect(), producer.connect()]);
  });

  afterEach(async () => {
    await Promise.all(stops.splice(0).map((stop) => stop()));
  });

  afterAll(async () => {
    await deleteTopics(admin, PREFIX);
    await Promise.all([admin.disconnect(), producer.disconnect()]);
  });

  async function installation() {
    const names = new TopicNames(`${PREFIX}${randomUUID().slice(0, 4)}.`);
    await createTopics(admin, names, ['runs', 'tools']);
    const send = (topic: 'runs' | 'tools', partition: number, ...values: (string | null)[]) =>
      producer.send({ topic: names.wire(topic), messages: values.map((value) => ({ partition, key: 'k', value })) });
    const member = (options: Partial<ShardConsumerOptions> = {}) => {
      const sink = new NotingSink();
      const consumer = new ShardConsumer({
        kafka,
        names,
        group: names.group('orchestrator'),
        topics: ['runs', 'tools'],
        sink,
        members: undefined,
        queuedBytesLimit: 1_000,
        log: SILENT,
        ...options,
      });
      stops.push(() => consumer.stop());
      consumer.start();
      return { sink, consumer };
    };
    return { names, send, member };
  }

  it('takes every shard, reads from the beginning and is ready only then', async () => {
    const { send, member } = await installation();
    await send('runs', 3, 'a', 'b');
    await send('tools', 23, null);
    const { sink, consumer } = member();
    expect(consumer.ready()).toBe(false);
    await eventually(() => consumer.ready());
    await eventually(() => sink.records.length === 3);
    expect(sink.owned.size).toBe(24);
    expect(
      sink.records.map(({ topic, partition, offset, key, value }) => [topic, partition, offset, key, value]),
    ).toEqual(
      expect.arrayContaining([
        ['runs', 3, 0n, 'k', 'a'],
        ['runs', 3, 1n, 'k', 'b'],
        ['tools', 23, 0n, 'k', null],
      ]),
    );
    expect(sink.failures).toEqual([]);
  });

  it('reads on after a stop where it acknowledged, and no earlier or later', async () => {
    const { send, member } = await installation();
    await send('runs', 1, 'a', 'b', 'c');
    const first = member();
    await eventually(() => first.sink.records.length === 3);
    first.consumer.acknowledge([{ topic: 'runs', partition: 1, next: 2n }]);
    await first.consumer.stop();
    expect(first.sink.calls.at(-1)).toBe('revoked 24');
    await send('runs', 1, 'd');
    const second = member();
    await eventually(() => second.sink.records.length === 2);
    expect(second.sink.values()).toEqual(['c', 'd']);
  });

  it('waits with records until the lane can take the shards', async () => {
    const { send, member } = await installation();
    await send('runs', 1, 'a');
    const sink = new NotingSink();
    sink.refusals = 2;
    const { consumer } = member({ sink });
    await eventually(() => sink.records.length === 1);
    expect(sink.calls).toEqual(['assigned 24', 'assigned 24', 'assigned 24']);
    expect(sink.failures).toEqual([]);
    await eventually(() => consumer.ready());
  });

  it('stops reading while the sink is full, keeps its membership, and goes on when the sink has drained', async () => {
    const { send, member } = await installation();
    const { sink, consumer } = member();
    await eventually(() => consumer.ready());
    sink.queuedBytes = 1_001;
    await send('runs', 1, 'a');
    await eventually(() => sink.records.length === 1);
    await send('runs', 2, 'b');
    await send('tools', 2, 'c');
    sink.looks = 0;
    await eventually(() => sink.looks > 5);
    expect(sink.records).toHaveLength(1);
    sink.queuedBytes = 0;
    consumer.drained();
    await eventually(() => sink.records.length === 3);
    expect(sink.calls).toEqual(['assigned 24']);
  });

  it('gives fenced shards back, takes them again and reads from what was acknowledged', async () => {
    const { send, member } = await installation();
    const { sink, consumer } = member();
    await send('runs', 5, 'a', 'b');
    await send('runs', 6, 'x');
    await eventually(() => sink.records.length === 3);
    consumer.acknowledge([{ topic: 'runs', partition: 5, next: 1n }]);
    consumer.retake([5]);
    await eventually(() => sink.records.length === 4);
    expect(sink.values().slice(3)).toEqual(['b']);
    expect(sink.calls).toEqual(['assigned 24', 'revoked 1', 'assigned 1']);
    await send('runs', 5, 'c');
    await eventually(() => sink.values().at(-1) === 'c');
    await eventually(() => consumer.ready());
  });

  it('shares the shards when a second member joins, and takes them back when it leaves', async () => {
    const { send, member } = await installation();
    const first = member();
    await eventually(() => first.consumer.ready());
    const before = [...first.sink.owned];
    const second = member();
    await eventually(() => first.sink.owned.size === 12 && second.sink.owned.size === 12);
    await eventually(() => first.consumer.ready() && second.consumer.ready());
    expect([...first.sink.owned].sort((a, b) => a - b)).toEqual(Array.from({ length: 12 }, (_, shard) => shard));
    expect([...first.sink.owned, ...second.sink.owned].sort((a, b) => a - b)).toEqual(before.sort((a, b) => a - b));
    for (const shard of before) await send('tools', shard, `s${shard}`);
    await eventually(() => first.sink.records.length + second.sink.records.length === 24);
    second.consumer.acknowledge(second.sink.positions());
    await second.consumer.stop();
    await eventually(() => first.sink.owned.size === 24);
    await send('tools', [...before].at(-1) ?? 0, 'last');
    await eventually(() => first.sink.values().includes('last'));
    expect([...first.sink.failures, ...second.sink.failures]).toEqual([]);
  });

  it('sends a dead predecessor out of the group, so that its shards are read at once', async () => {
    const { member, names } = await installation();
    const members = fileMemberStore(await mkdtemp(join(tmpdir(), 'members-')));
    const group = names.group('orchestrator');
    const network = new Network();
    const brokers = await sharedKafka();
    const dead = member({
      kafka: kafkaClient({ brokers, clientId: 'dead', log: SILENT, socketFactory: network.factory }),
      members,
    });
    await eventually(() => dead.consumer.ready());
    const memberId = await eventually(async () => (await members.read(group)) ?? false);
    network.cut();
    const next = member({ members });
    await eventually(() => next.sink.owned.size === 24, { timeoutMs: 7_000 });
    await eventually(async () => (await members.read(group)) !== memberId);
    await next.consumer.stop();
    expect(await members.read(group)).toBeUndefined();
  });

  it('reports an error of the lane once, and lets none into kafkajs, which would stop the consumer', async () => {
    const { send, member } = await installation();
    const { sink, consumer } = member();
    await eventually(() => consumer.ready());
    sink.fault = new TypeError('a bug');
    await send('runs', 1, 'a');
    await eventually(() => sink.failures.length > 0);
    await send('runs', 1, 'b');
    await consumer.stop();
    expect(sink.failures).toEqual([sink.fault]);
  });

  it('delivers nothing more once it is paused', async () => {
    const { names, send, member } = await installation();
    const { sink, consumer } = member();
    const other = member({ group: names.group('other') });
    await eventually(() => consumer.ready() && other.consumer.ready());
    consumer.pause();
    await send('runs', 1, 'a');
    await eventually(() => other.sink.records.length === 1);
    await consumer.stop();
    expect(sink.records).toEqual([]);
  });

  it('says fatally that a topic has another number of partitions', async () => {
    const names = new TopicNames(`${PREFIX}${randomUUID().slice(0, 4)}.`);
    await admin.createTopics({ topics: [{ topic: names.wire('runs'), numPartitions: 3 }], waitForLeaders: false });
    const sink = new NotingSink();
    const consumer = new ShardConsumer({
      kafka,
      names,
      group: names.group('orchestrator'),
      topics: ['runs'],
      sink,
      members: undefined,
      queuedBytesLimit: 1_000,
      log: SILENT,
    });
    consumer.start();
    await eventually(() => sink.failures.length === 1);
    expect(sink.failures).toEqual([expect.objectContaining({ code: 'wrong-shard-count' })]);
    await consumer.stop();
  });
});
