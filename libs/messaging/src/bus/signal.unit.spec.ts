import { describe, expect, it } from 'vitest';
import { pauseMs, repeat } from './repeat.js';
import { Signal } from './signal.js';

const LONG_MS = 20_000;

describe('a signal', () => {
  it('wakes who waits', async () => {
    const signal = new Signal();
    const waiting = signal.wait(LONG_MS);
    signal.wake();
    await expect(waiting).resolves.toBeUndefined();
  });

  it('keeps a wake that came before, once', async () => {
    const signal = new Signal();
    signal.wake();
    await signal.wait(LONG_MS);
    const startedAt = performance.now();
    await signal.wait(20);
    expect(performance.now() - startedAt).toBeGreaterThan(15);
  });
});

describe('repeating', () => {
  it('goes on until it succeeds, and tells every failure', async () => {
    const failures: unknown[] = [];
    let n = 0;
    const attempt = () => (++n < 3 ? Promise.reject(new Error(`no ${n}`)) : Promise.resolve('done'));
    const signal = new AbortController().signal;
    expect(await repeat(attempt, { signal, onError: (error) => failures.push(String(error)) })).toBe('done');
    expect(failures).toEqual(['Error: no 1', 'Error: no 2']);
  });

  it('ends without a value when it is aborted, also in a pause', async () => {
    const aborter = new AbortController();
    const attempt = () => Promise.reject(new Error('no'));
    const onError = () => setImmediate(() => aborter.abort());
    await expect(repeat(attempt, { signal: aborter.signal, onError })).resolves.toBeUndefined();
    await expect(repeat(attempt, { signal: aborter.signal, onError })).resolves.toBeUndefined();
  });

  it('gives up with what onError throws', async () => {
    const attempt = () => Promise.reject(new Error('no'));
    const onError = (error: unknown) => {
      throw error;
    };
    await expect(repeat(attempt, { signal: new AbortController().signal, onError })).rejects.toThrow('no');
  });

  it('waits longer each time, up to 10 s, spread over the whole range', () => {
    expect([0, 1, 2, 9, 60].map((n) => pauseMs(n, 1))).toEqual([200, 400, 800, 10_000, 10_000]);
    expect(pauseMs(3, 0)).toBe(0);
  });
});
