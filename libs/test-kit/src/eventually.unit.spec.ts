import { describe, expect, it } from 'vitest';
import { eventually } from './eventually.js';

describe('eventually', () => {
  it('repeats while the check throws or answers false, then returns the answer', async () => {
    let calls = 0;
    const check = () => {
      calls += 1;
      if (calls === 1) throw new Error('not yet');
      return calls === 2 ? (false as const) : calls;
    };
    expect(await eventually(check, { intervalMs: 1 })).toBe(3);
  });

  it('ends with the last error', async () => {
    const check = () => Promise.reject(new Error('never'));
    await expect(eventually(check, { timeoutMs: 10, intervalMs: 1 })).rejects.toThrow('never');
    await expect(eventually(() => false, { timeoutMs: 10, intervalMs: 1 })).rejects.toThrow('still false after 10 ms');
  });
});
