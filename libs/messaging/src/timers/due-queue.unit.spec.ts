import { describe, expect, it } from 'vitest';
import { seededRandom } from '../bus/embedded/seeded-random.js';
import { DueQueue } from './timer-queue.js';

describe('a due queue', () => {
  it('gives what is due, earliest first, and nothing else', () => {
    const random = seededRandom(7);
    const times = Array.from({ length: 500 }, () => Math.floor(random() * 1_000));
    const queue = new DueQueue<number>();
    for (const at of times) queue.push(at, at);
    expect(queue.next).toBe(Math.min(...times));
    const taken: number[] = [];
    for (let at = queue.take(600); at !== undefined; at = queue.take(600)) taken.push(at);
    expect(taken).toEqual(times.filter((at) => at <= 600).toSorted((a, b) => a - b));
    expect(queue.size).toBe(times.length - taken.length);
    expect(queue.next).toBeGreaterThan(600);
  });

  it('is empty at the end', () => {
    const queue = new DueQueue<string>();
    queue.push(1, 'a');
    expect([queue.take(1), queue.take(1), queue.next, queue.size]).toEqual(['a', undefined, undefined, 0]);
  });
});
