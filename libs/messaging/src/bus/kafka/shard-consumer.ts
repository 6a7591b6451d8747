import { setTimeout as delay } from 'node:timers/promises';
import { SHARD_COUNT, type Topic } from '@lineclear/contracts';
import { ConfigError, TransientError } from '@lineclear/errors';
import type { Cluster, Consumer, EachBatchPayload, Kafka } from 'kafkajs';
import type { Log } from '../../lane/log.js';
import type { BusPosition, BusSink } from '../bus.js';
import { Generation } from './generation.js';
import { committedPositions, leaveGroup } from './group-coordinator.js';
import { consumerSettings } from './kafka-client.js';
import type { MemberStore } from './member-store.js';
import { OffsetCommitter } from './offset-committer.js';
import { busRecord } from './record.js';
import { repeat } from '../repeat.js';
import { shardAssigner } from './shard-assigner.js';
import { Signal } from '../signal.js';
import { assertPartitions, type TopicNames } from './topics.js';
import { Watermarks } from './watermarks.js';

export interface ShardConsumerOptions {
  readonly kafka: Kafka;
  readonly names: TopicNames;
  /** wire name of the group */
  readonly group: string;
  readonly topics: readonly Topic[];
  readonly sink: Pick<BusSink, 'assigned' | 'revoked' | 'deliver' | 'failed'>;
  readonly members: MemberStore | undefined;
  /** reading waits while the sink holds more */
  readonly queuedBytesLimit: number;
  readonly log: Log;
}

const HOLD_CHECK_MS = 250;
const STOP_LIMIT_MS = 5_000;
const REBUILDS = 3;

/**
 * A member of the service's group: takes shards as the group assigns them and feeds their records into the sink.
 * INVARIANT: a record is given to the sink only in the generation that fetched it, and after `assigned` of its shard has resolved. Ownership is
 * fenced by the lane's epoch, so that a member that acts on an assignment that is over can write nothing.
 */
export class ShardConsumer {
  readonly #wireTopics: readonly string[];
  readonly #watermarks = new Watermarks();
  readonly #committer: OffsetCommitter;
  readonly #changed = new Signal();
  readonly #stopping = new AbortController();
  #consumer: Consumer | undefined;
  #cluster: Cluster | undefined;
  #generation: Generation | undefined;
  #memberId: string | undefined;
  #taken: readonly number[] = [];
  #isFull = false;
  #isPaused = false;
  #rebuilds = 0;
  #running: Promise<unknown> = Promise.resolve();
  /** INVARIANT: calls of `assigned` and `revoked` are steps of this chain, so that they never overlap. */
  #takeovers: Promise<void> = Promise.resolve();

  constructor(private readonly options: ShardConsumerOptions) {
    this.#wireTopics = options.topics.map((topic) => options.names.wire(topic));
    this.#committer = new OffsetCommitter(
      this.#watermarks,
      async (positions) =>
        await this.#consumer?.commitOffsets(positions.map(({ next, ...at }) => ({ ...at, offset: String(next) }))),
      options.log,
    );
  }

  /** Joins in the background, and goes on trying while the brokers are away. */
  start(): void {
    this.#running = this.#join().catch((error: unknown) => this.options.sink.failed(error));
  }

  async #join(): Promise<void> {
    const { log, group, members } = this.options;
    void this.#leave(await members?.read(group));
    const onError = (error: unknown) => {
      if (error instanceof ConfigError) throw error;
      log.warn({ group, topics: this.#wireTopics, error }, 'cannot join the group yet; trying again');
    };
    await repeat(() => this.#connect(), { signal: this.#stopping.signal, onError });
  }

  ready(): boolean {
    return this.#generation?.isReading(this.#cluster?.getNodeIds() ?? []) ?? false;
  }

  acknowledge(positions: readonly BusPosition[]): void {
    for (const { topic, partition, next } of positions)
      this.#watermarks.acknowledge({ topic: this.options.names.wire(topic), partition, next });
    if (this.#watermarks.isDirty) this.#committer.schedule();
  }

  drained(): void {
    this.#isFull = false;
    this.#changed.wake();
  }

  /**
   * Takes fenced shards anew once the coordinator still counts us in; else they come, or not, with the next assignment. Returns at once: the lane
   * goes on with its other shards meanwhile.
   */
  retake(shards: readonly number[]): void {
    const generation = this.#generation;
    if (generation === undefined) return;
    generation.close(shards);
    void this.#inTurn(async () => {
      const ours = shards.filter((shard) => this.#taken.includes(shard));
      if (generation.over.aborted || ours.length === 0) return;
      await this.options.sink.revoked(ours);
      this.#taken = this.#taken.filter((shard) => !ours.includes(shard));
      const signal = AbortSignal.any([generation.over, this.#stopping.signal]);
      const onError = (error: unknown) =>
        this.options.log.warn({ shards: ours, error }, 'it is not known yet whether fenced shards are still ours');
      await repeat(() => this.#assertMember(), { signal, onError });
      await this.#take(generation, ours, () => Promise.resolve());
    });
  }

  /** Reads on, but delivers nothing more. */
  pause(): void {
    this.#isPaused = true;
  }

  /** Gives all shards back and leaves the group. Bounded: brokers that do not answer are left to find out. */
  async stop(): Promise<void> {
    const { group, log } = this.options;
    this.#stopping.abort();
    this.#generation?.end();
    this.#changed.wake();
    const left = this.#leaveInOrder().catch((error: unknown) =>
      log.warn({ group, error }, 'the group was not left in order'),
    );
    const late = Symbol('late');
    if ((await Promise.race([left, delay(STOP_LIMIT_MS, late, { ref: false })])) === late)
      log.warn({ group }, 'the group was not left in time; the session ends by its time-out');
    this.#committer.cancel();
  }

  async #leaveInOrder(): Promise<void> {
    await this.#inTurn(() => this.#release());
    await this.#committer.flush();
    await this.#running;
    await this.#consumer?.disconnect();
    await this.options.members?.remove(this.options.group);
  }

  async #connect(): Promise<void> {
    const { kafka, group, topics, log } = this.options;
    const settings = consumerSettings(group, () => Promise.resolve(!this.#stopping.signal.aborted));
    const assigner = shardAssigner({
      shardCount: SHARD_COUNT,
      owned: () => this.#taken,
      onCluster: (cluster) => {
        this.#cluster = cluster;
      },
    });
    const consumer = kafka.consumer({ ...settings, partitionAssigners: [assigner] });
    this.#listen(consumer);
    try {
      await consumer.connect();
      await consumer.subscribe({ topics: [...this.#wireTopics], fromBeginning: true });
      if (this.#cluster !== undefined) assertPartitions(this.#cluster, this.#wireTopics);
      this.#consumer = consumer;
      await consumer.run({
        autoCommit: false,
        eachBatchAutoResolve: false,
        partitionsConsumedConcurrently: 1,
        eachBatch: (payload) => this.#eachBatch(payload),
      });
    } catch (error) {
      await consumer
        .disconnect()
        .catch((reason: unknown) => log.warn({ error: reason }, 'a consumer did not disconnect'));
      throw error;
    }
    log.info({ group, topics }, 'joined the group');
  }

  /** Listeners run inside kafkajs: the state of a new generation is set before its first fetch. */
  #listen(consumer: Consumer): void {
    const { GROUP_JOIN, REBALANCING, FETCH, CRASH } = consumer.events;
    consumer.on(GROUP_JOIN, ({ payload }) => {
      const shards = [...new Set(Object.values(payload.memberAssignment).flat())].sort((a, b) => a - b);
      this.#joined(payload.memberId, new Generation(shards));
    });
    consumer.on(REBALANCING, () => void this.#committer.flush());
    consumer.on(FETCH, ({ payload }) => {
      this.#rebuilds = 0;
      this.#generation?.fetched(payload.nodeId);
    });
    consumer.on(CRASH, ({ payload }) => this.#crashed(payload.error, payload.restart));
  }

  #joined(memberId: string, generation: Generation): void {
    const { group, members, log } = this.options;
    this.#generation?.end();
    this.#generation = generation;
    this.#memberId = memberId;
    this.#changed.wake();
    members?.write(group, memberId).catch((error: unknown) => log.warn({ error }, 'the member id was not stored'));
    void this.#inTurn(async () => {
      await this.#release();
      await this.#take(generation, generation.shards, () => this.#locate(generation.shards));
    });
  }

  /**
   * INVARIANT: positions are read after the shards are taken, and every partition is sought explicitly: a batch that an older generation fetched
   * is then stale for kafkajs, and cannot move the new one's position.
   */
  async #take(generation: Generation, shards: readonly number[], locate: () => Promise<void>): Promise<void> {
    const { group, sink, log } = this.options;
    const signal = AbortSignal.any([generation.over, this.#stopping.signal]);
    await repeat(
      async () => {
        this.#taken = [...new Set([...this.#taken, ...shards])];
        await sink.assigned(shards);
        if (!signal.aborted) await locate();
        if (signal.aborted) return;
        this.#seek(shards);
        generation.open(shards);
        this.#changed.wake();
      },
      { signal, onError: (error) => log.warn({ group, shards, error }, 'shards cannot be taken yet; trying again') },
    );
  }

  async #locate(shards: readonly number[]): Promise<void> {
    if (this.#cluster === undefined) return;
    this.#watermarks.reset(await committedPositions(this.#cluster, this.options.group, this.#wireTopics, shards));
  }

  async #release(): Promise<void> {
    const taken = this.#taken;
    this.#taken = [];
    if (taken.length > 0) await this.options.sink.revoked(taken);
  }

  /** Reading starts again at what was acknowledged. */
  #seek(shards: readonly number[]): void {
    for (const { topic, partition, next } of this.#watermarks.of(shards))
      this.#consumer?.seek({ topic, partition, offset: String(next) });
  }

  /**
   * Enqueues and resolves, or waits for its shard and for room. Our own errors end in `failed`: one that left would make kafkajs stop the consumer.
   * Only a refused heartbeat leaves, which tells kafkajs to join again.
   */
  async #eachBatch(payload: EachBatchPayload): Promise<void> {
    const { names, sink, queuedBytesLimit } = this.options;
    const { topic: wireTopic, partition, messages } = payload.batch;
    const topic = names.topic(wireTopic);
    const generation = this.#generation;
    const [first] = messages;
    if (generation === undefined || topic === undefined || first === undefined) return;
    if (!(await this.#mayDeliver(generation, partition, payload)) || payload.isStale()) return;
    try {
      if (this.#watermarks.rewind({ topic: wireTopic, partition, next: BigInt(first.offset) })) {
        this.retake([partition]);
        return;
      }
      this.#isFull = sink.deliver(messages.map((message) => busRecord(topic, partition, message))) > queuedBytesLimit;
      payload.resolveOffset(payload.batch.lastOffset());
    } catch (error) {
      sink.failed(error);
    }
  }

  async #mayDeliver(generation: Generation, shard: number, payload: EachBatchPayload): Promise<boolean> {
    const { sink, queuedBytesLimit } = this.options;
    while (!generation.over.aborted) {
      if (this.#isFull) this.#isFull = sink.deliver([]) > queuedBytesLimit;
      if (generation.isOpen(shard) && !this.#isFull && !this.#isPaused) return true;
      await this.#changed.wait(HOLD_CHECK_MS);
      await payload.heartbeat();
    }
    return false;
  }

  /** As good as an accepted heartbeat, and at once: a stable group that lists us has the generation that we joined. */
  async #assertMember(): Promise<void> {
    const group = await this.#consumer?.describeGroup();
    const isListed = group?.members.some(({ memberId }) => memberId === this.#memberId) ?? false;
    if (group?.state !== 'Stable' || !isListed)
      throw new TransientError(
        'unavailable',
        `the group is \`${group?.state ?? 'unknown'}\` and is about to assign anew`,
      );
  }

  /** The shards stay ours until another member fences us: the lane goes on with timers and commands while brokers are away. */
  #crashed(error: Error, restarts: boolean): void {
    const { log, sink, group } = this.options;
    this.#generation?.end();
    log.warn({ group, error, restarts }, 'the consumer stopped');
    if (this.#stopping.signal.aborted) return;
    void this.#leave(this.#memberId);
    if (restarts) return;
    this.#rebuilds += 1;
    if (this.#rebuilds > REBUILDS) sink.failed(error);
    else this.start();
  }

  /** Another generation would wait for a member that is gone until its session times out. */
  async #leave(memberId: string | undefined): Promise<void> {
    if (memberId === undefined) return;
    const { kafka, group, log } = this.options;
    const onError = (error: unknown) => log.warn({ group, memberId, error }, 'a former member could not leave yet');
    await repeat(() => leaveGroup(kafka, group, memberId), { signal: this.#stopping.signal, onError });
  }

  #inTurn(step: () => Promise<void>): Promise<void> {
    const { sink } = this.options;
    this.#takeovers = this.#takeovers.then(step).catch((error: unknown) => sink.failed(error));
    return this.#takeovers;
  }
}
