import type { Broker, Cluster, Consumer, Kafka, PartitionAssigner } from 'kafkajs';
import type { WirePosition } from './watermarks.js';

/** kafkajs has the request, but not its type. */
interface LeavingBroker extends Pick<Broker, 'isConnected'> {
  leaveGroup(request: { readonly groupId: string; readonly memberId: string }): Promise<unknown>;
}

/**
 * Takes a dead member out of its group, so that its shards need not wait for the session to time out. A member that is gone already is fine.
 * On a connection of its own: the consumer's may be down, or waiting for that very member.
 */
export async function leaveGroup(kafka: Kafka, groupId: string, memberId: string): Promise<void> {
  const { cluster, consumer } = clusterOf(kafka, groupId);
  await consumer.connect();
  try {
    const coordinator = (await cluster.findGroupCoordinator({ groupId })) as Broker & LeavingBroker;
    await coordinator.leaveGroup({ groupId, memberId });
  } catch (error) {
    if ((error as { type?: unknown }).type !== 'UNKNOWN_MEMBER_ID') throw error;
  } finally {
    await consumer.disconnect();
  }
}

/** kafkajs hands its view of the cluster to assigners only. */
function clusterOf(kafka: Kafka, groupId: string): { readonly cluster: Cluster; readonly consumer: Consumer } {
  let seen: Cluster | undefined;
  const probe: PartitionAssigner = ({ cluster }) => {
    seen = cluster;
    return {
      name: 'none',
      version: 0,
      assign: () => Promise.resolve([]),
      protocol: () => ({ name: 'none', metadata: Buffer.alloc(0) }),
    };
  };
  const consumer = kafka.consumer({ groupId, partitionAssigners: [probe] });
  if (seen === undefined) throw new TypeError('kafkajs did not set up its assigner');
  return { cluster: seen, consumer };
}

/** Where the group reads on: what it committed, else the earliest record that is left. */
export async function committedPositions(
  cluster: Cluster,
  groupId: string,
  topics: readonly string[],
  partitions: readonly number[],
): Promise<WirePosition[]> {
  const coordinator = await cluster.findGroupCoordinator({ groupId });
  const wanted = topics.map((topic) => ({
    topic,
    partitions: partitions.map((partition) => ({ partition, offset: '-1' })),
  }));
  const { responses } = await coordinator.offsetFetch({ groupId, topics: wanted });
  const committed = responses.flatMap(positionsOf);
  const unread = committed.filter(({ next }) => next < 0n);
  if (unread.length === 0) return committed;
  const earliest = await cluster.fetchTopicsOffset(
    topics.map((topic) => ({
      topic,
      partitions: unread.filter((position) => position.topic === topic).map(({ partition }) => ({ partition })),
      fromBeginning: true,
    })),
  );
  return [...committed.filter(({ next }) => next >= 0n), ...earliest.flatMap(positionsOf)];
}

function positionsOf({
  topic,
  partitions,
}: {
  readonly topic: string;
  readonly partitions: readonly { readonly partition: number; readonly offset: string }[];
}): WirePosition[] {
  return partitions.map(({ partition, offset }) => ({ topic, partition, next: BigInt(offset) }));
}
