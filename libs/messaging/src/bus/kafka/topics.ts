import { SHARD_COUNT, type Topic, TOPICS, topicName } from '@lineclear/contracts';
import { ConfigError } from '@lineclear/errors';
import type { Admin, Cluster, ITopicConfig } from 'kafkajs';
import { repeat } from '../repeat.js';

/** Topics that keep the latest record of each key. */
const COMPACTED: readonly Topic[] = ['catalog', 'policies'];

/** Wire names under an installation's prefix, so that several installations can share a cluster. CAUTION: persisted in brokers. */
export class TopicNames {
  readonly #topics: ReadonlyMap<string, Topic>;

  /** @param prefix before every topic and group, default none */
  constructor(private readonly prefix = '') {
    this.#topics = new Map(TOPICS.map((topic) => [this.wire(topic), topic]));
  }

  wire(topic: Topic): string {
    return this.prefix + topicName(topic);
  }

  /** undefined for a topic that is not ours */
  topic(wire: string): Topic | undefined {
    return this.#topics.get(wire);
  }

  group(name: string): string {
    return this.prefix + name;
  }
}

const CREATE_LIMIT_MS = 30_000;

/**
 * Makes the topics that are missing, with one partition per shard, and waits until all are served. Those that exist are left as they are.
 * @throws the broker's error when that takes longer than 30 s
 */
export async function createTopics(
  admin: Admin,
  names: TopicNames,
  options: { readonly topics: readonly Topic[]; readonly replicas: number },
): Promise<void> {
  const existing = new Set(await admin.listTopics());
  const missing: ITopicConfig[] = options.topics
    .filter((topic) => !existing.has(names.wire(topic)))
    .map((topic) => ({
      topic: names.wire(topic),
      numPartitions: SHARD_COUNT,
      replicationFactor: options.replicas,
      configEntries: COMPACTED.includes(topic) ? [{ name: 'cleanup.policy', value: 'compact' }] : [],
    }));
  if (missing.length > 0) await admin.createTopics({ topics: missing, waitForLeaders: false });
  const deadline = performance.now() + CREATE_LIMIT_MS;
  const onError = (error: unknown) => {
    if (performance.now() > deadline) throw error;
  };
  for (const { topic } of missing)
    await repeat(() => admin.fetchTopicOffsets(topic), { signal: new AbortController().signal, onError });
}

/** @throws ConfigError `wrong-shard-count` when a topic was made with another number of partitions. The cluster must know the topics. */
export function assertPartitions(cluster: Cluster, wireNames: readonly string[]): void {
  for (const name of wireNames) {
    const count = cluster.findTopicPartitionMetadata(name).length;
    if (count !== SHARD_COUNT)
      throw new ConfigError(
        [
          {
            where: `topic ${name}`,
            what: 'has another number of partitions than this installation has shards',
            seen: String(count),
            expected: String(SHARD_COUNT),
            next: 'make the topic anew or use another prefix',
          },
        ],
        { code: 'wrong-shard-count' },
      );
  }
}
