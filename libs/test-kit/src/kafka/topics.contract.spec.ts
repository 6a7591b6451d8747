import { SHARD_COUNT, TOPICS, topicName } from '@lineclear/contracts';
import { describe, expect, it } from 'vitest';
import { readTopics } from './topics.js';

describe('infra/kafka/topics.yaml', () => {
  it('lists exactly the topics of the contracts, each with its dead letters, one partition per shard', async () => {
    const plan = await readTopics();
    const expected = TOPICS.map((topic) => topicName(topic)).flatMap((name) => [name, `${name}.dlt`]);
    expect(plan.map(({ name }) => name).toSorted()).toEqual(expected.toSorted());
    expect(new Set(plan.map(({ partitions }) => partitions))).toEqual(new Set([SHARD_COUNT]));
  });

  it('compacts what others read as a table, and nothing else', async () => {
    const compacted = (await readTopics()).filter(({ settings }) => settings['cleanup.policy'] === 'compact');
    expect(compacted.map(({ name }) => name)).toEqual(['lineclear.catalog.v1', 'lineclear.policies.v1']);
  });
});
