import { readFile } from 'node:fs/promises';
import { parseConfigFile } from '@lineclear/config-file';
import { Kafka, logLevel } from 'kafkajs';
import { z } from 'zod';
import { infraKafka } from './infra-folder.js';

const topic = z.union([
  z.strictObject({ cleanup: z.literal('delete'), retentionHours: z.int().positive() }),
  z.strictObject({ cleanup: z.literal('compact') }),
]);

const topicsFile = z.strictObject({
  version: z.literal(1),
  partitions: z.int().positive(),
  replication: z.int().positive(),
  minInSyncReplicas: z.int().positive(),
  topics: z.record(z.string().regex(/^lineclear\.[a-z-]+\.v[0-9]+$/), topic),
  deadLetter: topic,
});

export interface TopicPlan {
  readonly name: string;
  readonly partitions: number;
  /** Broker settings of the topic, such as `cleanup.policy`. */
  readonly settings: Readonly<Record<string, string>>;
}

/** Every topic of infra/kafka/topics.yaml, each with its `.dlt`. @throws ConfigError for a bad file */
export async function readTopics(file = infraKafka('topics.yaml')): Promise<readonly TopicPlan[]> {
  const { partitions, topics, deadLetter } = parseConfigFile(await readFile(file, 'utf8'), {
    file,
    schema: topicsFile,
  });
  return Object.entries(topics).flatMap(([name, traits]) => [
    { name, partitions, settings: settingsOf(traits) },
    { name: `${name}.dlt`, partitions, settings: settingsOf(deadLetter) },
  ]);
}

function settingsOf(traits: z.infer<typeof topic>): Readonly<Record<string, string>> {
  if (traits.cleanup === 'compact') return { 'cleanup.policy': 'compact' };
  return { 'cleanup.policy': 'delete', 'retention.ms': String(traits.retentionHours * 3_600_000) };
}

/** Creates those that are missing on a broker of one node, and waits until they can be used. */
export async function createTopics(brokers: readonly string[], topics: readonly TopicPlan[]): Promise<void> {
  const admin = new Kafka({ brokers: [...brokers], logLevel: logLevel.NOTHING }).admin();
  await admin.connect();
  try {
    await admin.createTopics({
      waitForLeaders: true,
      topics: topics.map(({ name, partitions, settings }) => ({
        topic: name,
        numPartitions: partitions,
        replicationFactor: 1,
        configEntries: Object.entries(settings).map(([key, value]) => ({ name: key, value })),
      })),
    });
  } finally {
    await admin.disconnect();
  }
}
