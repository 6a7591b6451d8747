import { describe, expect, it } from 'vitest';
import { InputQueue } from './input-queue.js';
import { positionsOf } from './positions.js';
import { Shard } from './shard.js';
import type { BusWork, Work } from './work.js';

const bus = (shard: Shard, offset: number, bytes = 10): BusWork => ({
  origin: 'bus',
  shard,
  key: 'k',
  bytes,
  input: undefined,
  handler: undefined,
  traceparent: undefined,
  tries: 0,
  record: { topic: 'runs', partition: shard.id, offset: BigInt(offset), key: 'k', headers: {}, value: '' },
  fate: 'decide',
  source: 's',
  id: String(offset),
  type: 't',
});

const offsets = (works: readonly Work[]) =>
  works.map((work) => [work.shard.id, Number((work as BusWork).record.offset)]);

describe('positions', () => {
  const next = (works: readonly Work[], pending: readonly Work[], shard: Shard) =>
    positionsOf(works, pending).get(shard)?.get('runs');

  it('are one past the last work', () => {
    const shard = new Shard(1, '1');
    expect(next([bus(shard, 3), bus(shard, 4)], [], shard)).toBe(5n);
  });

  it('never pass a work that is still to be done', () => {
    const shard = new Shard(1, '1');
    expect(next([bus(shard, 3), bus(shard, 5)], [bus(shard, 4)], shard)).toBe(4n);
    expect(next([bus(shard, 5)], [bus(shard, 4)], shard)).toBeUndefined();
  });

  it('do not go back for a message that comes again', () => {
    const shard = new Shard(1, '1');
    shard.positions.set('runs', 9n);
    expect(next([bus(shard, 3)], [], shard)).toBeUndefined();
  });
});

describe('the input queue', () => {
  it('takes from shards in turn, each in its order', () => {
    const [one, two] = [new Shard(1, '1'), new Shard(2, '1')];
    const queue = new InputQueue();
    for (const offset of [0, 1, 2]) queue.push(bus(one, offset));
    queue.push(bus(two, 0));
    expect(offsets(queue.take(3, 1_000))).toEqual([
      [1, 0],
      [2, 0],
      [1, 1],
    ]);
    expect(offsets(queue.take(9, 1_000))).toEqual([[1, 2]]);
    expect([queue.size, queue.bytes, queue.take(1, 1)]).toEqual([0, 0, []]);
  });

  it('ends a batch at its bytes, with one work at least', () => {
    const shard = new Shard(1, '1');
    const queue = new InputQueue();
    for (const offset of [0, 1, 2]) queue.push(bus(shard, offset, 600));
    expect(queue.take(9, 1_000)).toHaveLength(2);
    expect(queue.take(9, 1)).toHaveLength(1);
  });

  it('gets back what was not committed, in front', () => {
    const [one, lost] = [new Shard(1, '1'), new Shard(2, '1')];
    const queue = new InputQueue();
    for (const offset of [0, 1, 2]) queue.push(bus(one, offset));
    queue.push(bus(lost, 0));
    const taken = queue.take(3, 1_000);
    lost.isLost = true;
    queue.putBack(taken);
    expect(offsets(queue.take(9, 1_000))).toEqual([
      [1, 0],
      [1, 1],
      [1, 2],
    ]);
  });

  it('keeps its order over thousands of works', () => {
    const shard = new Shard(1, '1');
    const queue = new InputQueue();
    const seen: number[] = [];
    for (let offset = 0; offset < 2_000; offset += 1) {
      queue.push(bus(shard, offset));
      if (offset % 3 === 0) seen.push(...offsets(queue.take(2, 1_000)).map(([, at]) => at ?? -1));
    }
    while (queue.size > 0) seen.push(...offsets(queue.take(256, 100_000)).map(([, at]) => at ?? -1));
    expect(seen).toEqual(Array.from({ length: 2_000 }, (_, index) => index));
  });

  it('forgets a shard that is lost', () => {
    const [one, two] = [new Shard(1, '1'), new Shard(2, '1')];
    const queue = new InputQueue();
    queue.push(bus(one, 0));
    queue.push(bus(two, 0));
    expect(queue.drop(one)).toHaveLength(1);
    expect(offsets(queue.take(9, 1_000))).toEqual([[2, 0]]);
  });
});
