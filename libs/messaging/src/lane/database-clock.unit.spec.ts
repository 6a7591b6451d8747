import { describe, expect, it } from 'vitest';
import { DatabaseClock } from './database-clock.js';

const START = 1_764_400_000_000;

function clockAt(...samples: [databaseMs: number, monotonic: number][]): DatabaseClock {
  const clock = new DatabaseClock();
  for (const [databaseMs, monotonic] of samples) clock.sample(START + databaseMs, monotonic);
  return clock;
}

describe('the database clock', () => {
  it('runs on by the monotonic clock', () => {
    expect(clockAt([0, 100]).now(350)).toBe(START + 250);
  });

  it('keeps the sample that was answered fastest: the others say a time that has passed', () => {
    const clock = clockAt([0, 10], [95, 110], [180, 210]);
    expect(clock.now(210)).toBeGreaterThanOrEqual(START + 199);
    expect(clock.now(210)).toBeLessThanOrEqual(START + 200);
  });

  it('does not run backwards for a slow answer', () => {
    const clock = clockAt([0, 10]);
    const before = clock.now(1_000);
    clock.sample(START + 900, 1_000);
    expect(clock.now(1_001)).toBeGreaterThanOrEqual(before);
  });

  it('follows when the clock of the database is set, forward at once and back by more than a second', () => {
    expect(clockAt([0, 0], [50_000, 100]).now(100)).toBe(START + 50_000);
    expect(clockAt([0, 0], [-50_000, 100]).now(100)).toBe(START - 50_000);
  });

  it('comes down slowly to a database that runs slower', () => {
    const clock = clockAt([0, 0], [9_999, 10_000], [19_998, 20_000]);
    expect(clock.now(20_000)).toBeLessThanOrEqual(START + 20_000 - 2);
  });
});
