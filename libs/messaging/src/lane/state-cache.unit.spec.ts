import { describe, expect, it } from 'vitest';
import type { StateStore } from './batch.js';
import { StateCache } from './state-cache.js';

const STORE: StateStore<unknown> = { name: 's', load: async () => new Map() };

describe('the state cache', () => {
  it('forgets what was used longest ago', () => {
    const cache = new StateCache(2);
    const owner = { isLost: false };
    for (const key of ['a', 'b']) cache.set(STORE, key, { state: key, owner });
    cache.get(STORE, 'a');
    cache.set(STORE, 'c', { state: 'c', owner });
    expect(['a', 'b', 'c'].map((key) => cache.get(STORE, key)?.state)).toEqual(['a', undefined, 'c']);
    expect(cache.size).toBe(2);
  });

  it('forgets what belonged to a shard that was lost', () => {
    const cache = new StateCache(2);
    const owner = { isLost: false };
    cache.set(STORE, 'a', { state: 1, owner });
    owner.isLost = true;
    expect(cache.get(STORE, 'a')).toBeUndefined();
  });
});
