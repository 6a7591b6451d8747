import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Watermarks } from './watermarks.js';

const at = (partition: number, next: bigint) => ({ topic: 'runs', partition, next });
const fresh = () => {
  const marks = new Watermarks();
  marks.reset([at(0, 5n), at(1, 0n)]);
  return marks;
};

describe('watermarks', () => {
  it('commit what was acknowledged since the last time, and nothing else', () => {
    const marks = fresh();
    expect(marks.takeDirty()).toEqual([]);
    marks.acknowledge(at(0, 6n));
    marks.acknowledge(at(0, 8n));
    expect(marks.takeDirty()).toEqual([at(0, 8n)]);
    expect(marks.takeDirty()).toEqual([]);
  });

  it('ignore what is behind, and partitions that are not ours', () => {
    const marks = fresh();
    marks.acknowledge(at(0, 5n));
    marks.acknowledge(at(0, 2n));
    marks.acknowledge(at(9, 2n));
    expect(marks.isDirty).toBe(false);
    expect(marks.of([0, 9])).toEqual([at(0, 5n)]);
  });

  it('fall back where a topic begins anew, and only there', () => {
    const marks = fresh();
    expect(marks.rewind(at(0, 5n))).toBe(false);
    expect(marks.rewind(at(0, 7n))).toBe(false);
    expect(marks.rewind(at(0, 0n))).toBe(true);
    marks.acknowledge(at(0, 1n));
    expect(marks.takeDirty()).toEqual([at(0, 1n)]);
  });

  it('commit again what could not be committed, as far as it is still ours', () => {
    const marks = fresh();
    marks.acknowledge(at(0, 6n));
    const lost = marks.takeDirty();
    marks.markDirty([...lost, at(9, 1n)]);
    marks.acknowledge(at(0, 7n));
    expect(marks.takeDirty()).toEqual([at(0, 7n)]);
    marks.reset([at(1, 0n)]);
    marks.markDirty(lost);
    expect(marks.takeDirty()).toEqual([]);
  });

  it('never commit more than was acknowledged, and in the end all of it', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.nat(1), fc.bigInt({ min: 0n, max: 20n }), fc.boolean())), (steps) => {
        const marks = fresh();
        const done = [5n, 0n];
        const committed = [5n, 0n];
        const commit = () => {
          for (const { partition, next } of marks.takeDirty()) committed[partition] = next;
        };
        for (const [partition, next, commits] of steps) {
          marks.acknowledge(at(partition, next));
          if (next > (done[partition] ?? 0n)) done[partition] = next;
          if (commits) commit();
          for (const shard of [0, 1]) expect(committed[shard] ?? 0n).toBeLessThanOrEqual(done[shard] ?? 0n);
        }
        commit();
        expect(committed).toEqual(done);
      }),
    );
  });
});
