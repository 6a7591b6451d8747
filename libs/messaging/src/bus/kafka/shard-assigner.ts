import { AssignerProtocol, type Cluster, type GroupMember, type PartitionAssigner } from 'kafkajs';
import { assignShards, type Member } from './assignment.js';

/** CAUTION: the group agrees on it; members of the next release must offer it too, or they cannot join. */
const PROTOCOL = 'lineclear-shards';
const VERSION = 0;

export interface ShardAssignerOptions {
  readonly shardCount: number;
  /** shards that this member owns now */
  readonly owned: () => readonly number[];
  /** The consumer's own view of the cluster, for requests that kafkajs has no method for. */
  readonly onCluster: (cluster: Cluster) => void;
}

/** One member owns partition p of every topic (assignment.ts); kafkajs asks the leader of the group for it. */
export function shardAssigner({ shardCount, owned, onCluster }: ShardAssignerOptions): PartitionAssigner {
  return ({ cluster }) => {
    onCluster(cluster);
    return {
      name: PROTOCOL,
      version: VERSION,
      protocol: ({ topics }) => ({
        name: PROTOCOL,
        metadata: AssignerProtocol.MemberMetadata.encode({
          version: VERSION,
          topics,
          userData: Buffer.from(JSON.stringify({ owned: owned() })),
        }),
      }),
      assign: ({ members }) => {
        const assignment = assignShards(members.map(memberOf), shardCount);
        return Promise.resolve(
          [...assignment].map(([memberId, partitions]) => ({
            memberId,
            memberAssignment: AssignerProtocol.MemberAssignment.encode({
              version: VERSION,
              assignment: Object.fromEntries(Object.entries(partitions).map(([topic, list]) => [topic, [...list]])),
              userData: Buffer.alloc(0),
            }),
          })),
        );
      },
    };
  };
}

/** What another release wrote beside the topics is read leniently: a member that cannot be read owns nothing yet. */
function memberOf({ memberId, memberMetadata }: GroupMember): Member {
  const metadata = AssignerProtocol.MemberMetadata.decode(memberMetadata);
  return { id: memberId, topics: metadata?.topics ?? [], owned: ownedOf(metadata?.userData) };
}

function ownedOf(userData: Buffer | undefined): number[] {
  try {
    const { owned } = JSON.parse(userData?.toString() ?? '{}') as { owned?: unknown };
    return Array.isArray(owned) ? owned.filter((shard) => Number.isInteger(shard)) : [];
  } catch {
    return [];
  }
}
