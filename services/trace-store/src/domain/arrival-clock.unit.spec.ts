import { describe, expect, it } from 'vitest';
import { ArrivalClock } from './arrival-clock.js';

describe('the arrival clock', () => {
  it('grows within a millisecond, and when the clock steps back', () => {
    const clock = new ArrivalClock();
    const times = [1_000, 1_000, 999, 1_001, 1_001].map((ms) => clock.next(new Date(ms)));
    expect(times).toEqual([1_000_000, 1_000_001, 1_000_002, 1_001_000, 1_001_001]);
  });

  it('is exact as a double for the next two centuries', () => {
    expect(Number.isSafeInteger(new ArrivalClock().next(new Date('2226-01-01')))).toBe(true);
  });
});
