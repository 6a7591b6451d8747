import { setTimeout as delay } from 'node:timers/promises';
import { SHARD_COUNT, type Topic } from '@lineclear/contracts';
import { TransientError } from '@lineclear/errors';
import type { Cluster, Consumer, EachBatchPayload, Kafka } from 'kafkajs';
import type { Log } from '../../lane/log.js';
import type { BusPosition, BusSink } from '../bus.js';
import { ConsumerRunner } from './consumer-runner.js';
import { Generation } from './generation.js';
import { committedPositions, leaveGroup } from './group-coordinator.js';
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
const COMMIT_LIMIT_MS = 1_000;
const LEAVE_LIMIT_MS = 4_000;

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
  readonly #runner: ConsumerRunner;
  #cluster: Cluster | undefined;
  #generation: Generation | undefined;
  #memberId: string | undefined;
  #taken: readonly number[] = [];
  readonly #leaving = new Set<string>();
  #isFull = false;
  #isPaused = false;
  /** INVARIANT: calls of `assigned` and `revoked` are steps of this chain, so that they never overlap. */
  #takeovers: Promise<void> = Promise.resolve();

  constructor(private readonly options: ShardConsumerOptions) {
    const { kafka, group, names, topics, sink, log } = options;
    this.#wireTopics = topics.map((topic) => names.wire(topic));
    this.#runner = new ConsumerRunner({
      kafka,
      group,
      topics: this.#wireTopics,
      assigner: shardAssigner({
        shardCount: SHARD_COUNT,
        owned: () => this.#taken,
        onCluster: (cluster) => {
          this.#cluster = cluster;
        },
      }),
      run: {
        autoCommit: false,
        eachBatchAutoResolve: false,
        partitionsConsumedConcurrently: 1,
        eachBatch: (payload) => this.#eachBatch(payload),
      },
      created: (consumer) => this.#listen(consumer),
      subscribed: () => {
        if (this.#cluster !== undefined) assertPartitions(this.#cluster, this.#wireTopics);
      },
      crashed: () => this.#crashed(),
      failed: (error) => sink.failed(error),
      log,
    });
    this.#committer = new OffsetCommitter(
      this.#watermarks,
      async (positions) =>
        await this.#runner.consumer?.commitOffsets(
          positions.map(({ next, ...at }) => ({ ...at, offset: String(next) })),
        ),
      log,
    );
  }

  /** Joins in the background, and goes on trying while the brokers are away. */
  start(): void {
    void this.#join();
  }

  async #join(): Promise<void> {
    const { group, members } = this.options;
    const predecessor = await members?.read(group);
    this.#runner.start();
    await this.#leave(predecessor);
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
      const signal = AbortSignal.any([generation.over, this.#runner.stopping]);
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

  /** Gives all shards back and leaves the group. */
  async stop(): Promise<void> {
    const { group, members } = this.options;
    this.#runner.abort();
    this.#generation?.end();
    this.#changed.wake();
    await this.#inTurn(() => this.#release());
    await Promise.race([this.#committer.flush(), delay(COMMIT_LIMIT_MS, undefined, { ref: false })]);
    this.#committer.cancel();
    await this.#runner.leave(LEAVE_LIMIT_MS);
    await members?.remove(group);
  }

  /** Listeners run inside kafkajs: the state of a new generation is set before its first fetch. */
  #listen(consumer: Consumer): void {
    const { GROUP_JOIN, REBALANCING, FETCH } = consumer.events;
    consumer.on(GROUP_JOIN, ({ payload }) => {
      const shards = [...new Set(Object.values(payload.memberAssignment).flat())].sort((a, b) => a - b);
      this.#joined(payload.memberId, new Generation(shards));
    });
    consumer.on(REBALANCING, () => void this.#committer.flush());
    consumer.on(FETCH, ({ payload }) => this.#generation?.fetched(payload.nodeId));
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
    const signal = AbortSignal.any([generation.over, this.#runner.stopping]);
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
      this.#runner.consumer?.seek({ topic, partition, offset: String(next) });
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
      this.#isPaused = true;
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
    const group = await this.#runner.consumer?.describeGroup();
    const isListed = group?.members.some(({ memberId }) => memberId === this.#memberId) ?? false;
    if (group?.state !== 'Stable' || !isListed)
      throw new TransientError(
        'unavailable',
        `the group is \`${group?.state ?? 'unknown'}\` and is about to assign anew`,
      );
  }

  /** The shards stay ours until another member fences us: the lane goes on with timers and commands while brokers are away. */
  #crashed(): void {
    this.#generation?.end();
    void this.#leave(this.#memberId);
  }

  /** Another generation would wait for a member that is gone until its session times out. One attempt at a time, however often we crash. */
  async #leave(memberId: string | undefined): Promise<void> {
    if (memberId === undefined || this.#leaving.has(memberId)) return;
    const { kafka, group, log } = this.options;
    const onError = (error: unknown) => log.warn({ group, memberId, error }, 'a former member could not leave yet');
    this.#leaving.add(memberId);
    await repeat(() => leaveGroup(kafka, group, memberId), { signal: this.#runner.stopping, onError });
    this.#leaving.delete(memberId);
  }

  #inTurn(step: () => Promise<void>): Promise<void> {
    const { sink } = this.options;
    this.#takeovers = this.#takeovers.then(step).catch((error: unknown) => sink.failed(error));
    return this.#takeovers;
  }
}
