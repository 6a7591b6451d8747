/** A member of the group as its leader sees it. */
export interface Member {
  readonly id: string;
  /** wire names that it reads */
  readonly topics: readonly string[];
  /** shards that it owned before, so that they stay with it */
  readonly owned: readonly number[];
}

/** Per member the partitions of each topic. */
export type Assignment = ReadonlyMap<string, Readonly<Record<string, readonly number[]>>>;

/**
 * Gives every shard to one member: its partition of every topic that the member reads, so that one process owns all of an aggregate.
 * Shares differ by at most one, and shards stay where they were as far as that allows. Deterministic; topics are those of the members, also of
 * newer versions than the leader's.
 */
export function assignShards(members: readonly Member[], shardCount: number): Assignment {
  const sorted = [...members].sort((a, b) => (a.id < b.id ? -1 : 1));
  const owners = ownersOf(sorted, shardCount);
  return new Map(
    sorted.map(({ id, topics }) => {
      const shards = owners.flatMap((owner, shard) => (owner === id ? [shard] : []));
      return [id, Object.fromEntries(topics.map((topic) => [topic, shards]))];
    }),
  );
}

function ownersOf(members: readonly Member[], shardCount: number): (string | undefined)[] {
  const owners = Array.from<string | undefined>({ length: shardCount });
  const least = Math.floor(shardCount / members.length);
  let larger = shardCount % members.length;
  const counts = new Map(members.map(({ id }) => [id, 0]));
  const give = (id: string, shard: number) => {
    owners[shard] = id;
    counts.set(id, (counts.get(id) ?? 0) + 1);
  };
  for (const { id, owned } of members) {
    const kept = [...new Set(owned)].filter((shard) => shard in owners && owners[shard] === undefined);
    const share = kept.length > least && larger > 0 ? least + 1 : least;
    if (share > least) larger -= 1;
    for (const shard of kept.slice(0, share)) give(id, shard);
  }
  const open = owners.flatMap((owner, shard) => (owner === undefined ? [shard] : []));
  for (const shard of open) {
    const [next] = [...counts].sort(([, a], [, b]) => a - b);
    if (next !== undefined) give(next[0], shard);
  }
  return owners;
}
