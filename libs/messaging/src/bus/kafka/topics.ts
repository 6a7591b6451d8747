import { SHARD_COUNT, type Topic, TOPICS, topicName } from '@lineclear/contracts';
import { ConfigError } from '@lineclear/errors';
import type { Cluster } from 'kafkajs';

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
