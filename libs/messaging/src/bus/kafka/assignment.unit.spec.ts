import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { assignShards, type Member } from './assignment.js';

const SHARDS = 24;
const member = (id: string, owned: readonly number[] = [], topics: readonly string[] = ['runs', 'tools']): Member => ({
  id,
  topics,
  owned,
});
const shardsOf = (members: readonly Member[], topic = 'runs') =>
  new Map([...assignShards(members, SHARDS)].map(([id, partitions]) => [id, partitions[topic] ?? []]));
const all = Array.from({ length: SHARDS }, (_, shard) => shard);

describe('assignment of shards', () => {
  it('gives everything to the only member', () => {
    expect(assignShards([member('a')], SHARDS)).toEqual(new Map([['a', { runs: all, tools: all }]]));
  });

  it('keeps shards where they are when a member joins, and moves only its share', () => {
    const shares = shardsOf([member('a', all), member('b')]);
    expect(shares.get('a')).toEqual(all.slice(0, 12));
    expect(shares.get('b')).toEqual(all.slice(12));
  });

  it('spreads the shards of a member that left', () => {
    const shares = shardsOf([member('a', all.slice(0, 8)), member('b', all.slice(8, 16))]);
    expect(shares.get('a')).toEqual([...all.slice(0, 8), 16, 18, 20, 22]);
    expect(shares.get('b')).toEqual([...all.slice(8, 16), 17, 19, 21, 23]);
  });

  it('assigns topics of a newer version to the members that read them', () => {
    const assignment = assignShards([member('old'), member('new', [], ['runs', 'later'])], SHARDS);
    expect(Object.keys(assignment.get('old') ?? {})).toEqual(['runs', 'tools']);
    expect(assignment.get('new')?.['later']).toEqual(assignment.get('new')?.['runs']);
  });

  it('gives each shard to exactly one member, in shares that differ by one at most, whatever members claim', () => {
    const claims = fc.array(fc.integer({ min: -3, max: 30 }), { maxLength: 40 });
    const members = fc.uniqueArray(fc.record({ id: fc.uuid(), owned: claims }), {
      selector: ({ id }) => id,
      minLength: 1,
      maxLength: 30,
    });
    fc.assert(
      fc.property(members, (list) => {
        const shares = shardsOf(list.map(({ id, owned }) => member(id, owned)));
        const sizes = [...shares.values()].map((shards) => shards.length);
        expect([...shares.values()].flat().sort((a, b) => a - b)).toEqual(all);
        expect(Math.max(...sizes) - Math.min(...sizes)).toBeLessThanOrEqual(1);
      }),
    );
  });

  it('does not depend on the order in which members are listed, and moves nothing when nothing changed', () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.uuid(), { minLength: 1, maxLength: 10 }), (ids) => {
        const first = shardsOf(ids.map((id) => member(id)));
        expect(shardsOf(ids.toReversed().map((id) => member(id)))).toEqual(first);
        expect(shardsOf(ids.map((id) => member(id, first.get(id))))).toEqual(first);
      }),
    );
  });
});
