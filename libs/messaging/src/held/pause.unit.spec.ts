import { ConflictError, InvalidMessageError, TransientError } from '@lineclear/errors';
import { describe, expect, it } from 'vitest';
import { laterMs, retryDelayMs } from './backoff.js';
import { PauseWatch } from './pause.js';

const keys = (count: number, name = 'k') => Array.from({ length: count }, (_, index) => `${name}${index}`);

describe('the pause watch', () => {
  it('sees that more than half of the keys fail', () => {
    const watch = new PauseWatch();
    expect(watch.see(keys(20), new Set(keys(10)), 0)).toBeUndefined();
    expect(watch.see([], new Set(keys(11)), 1)).toBe(1_000);
  });

  it('says nothing of a few keys: they are held and parked', () => {
    expect(new PauseWatch().see(keys(7), new Set(keys(7)), 0)).toBeUndefined();
  });

  it('forgets failures of a key that went well, and of long ago', () => {
    const watch = new PauseWatch();
    watch.see(keys(12), new Set(keys(6)), 0);
    watch.see(keys(6), new Set(), 1);
    expect(watch.see(keys(5, 'x'), new Set(keys(5, 'x')), 2)).toBeUndefined();
    expect(watch.see(keys(6, 'y'), new Set(keys(6, 'y')), 20_000)).toBeUndefined();
  });

  it('pauses longer and longer, each after one bad batch, until one goes well', () => {
    const watch = new PauseWatch();
    const bad = () => watch.see(['a'], new Set(['a']), 1);
    watch.see(keys(8), new Set(keys(8)), 0);
    expect([bad(), bad(), bad()]).toEqual([2_000, 4_000, 8_000]);
    expect([bad(), bad(), bad()]).toEqual([16_000, 30_000, 30_000]);
    watch.see(['a'], new Set(), 2);
    expect(bad()).toBeUndefined();
  });
});

describe('the delay before a retry', () => {
  const most = () => 1;

  it.each([
    [new TransientError('unavailable', 'x'), 1, 400],
    [new TransientError('unavailable', 'x'), 9, 60_000],
    [new TransientError('unavailable', 'x'), 10, undefined],
    [new TransientError('unavailable', 'x', { retryAfterMs: 5_000 }), 1, 5_000],
    [new ConflictError('version-moved', 'x'), 2, 800],
    [new TypeError('x'), 3, 1_600],
    [new TypeError('x'), 4, undefined],
    [new InvalidMessageError('invalid-message', 'x'), 1, undefined],
  ])('of %s after %i failures is %s at most', (error, attempts, delayMs) => {
    expect(retryDelayMs(error, attempts, most)).toBe(delayMs);
  });

  it('is drawn from all of it, so that what failed together does not come back together', () => {
    expect(retryDelayMs(new TypeError('x'), 1, () => 0.25)).toBe(100);
    expect([laterMs(0, most), laterMs(20, most), laterMs(20, () => 0)]).toEqual([200, 60_000, 0]);
  });
});
