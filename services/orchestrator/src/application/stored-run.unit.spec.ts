import { describe, expect, it } from 'vitest';
import { needsSnapshot, type StoredRun } from './stored-run.js';

const at = (version: number, snapshotVersion: number) =>
  needsSnapshot({ state: { version }, input: {}, snapshotVersion, summary: undefined } as unknown as StoredRun);

describe('a snapshot', () => {
  it('is taken so rarely that all of them together are at most four times the run', () => {
    let snapshotVersion = 0;
    let written = 0;
    for (let version = 1; version <= 20_000; version += 1) {
      if (at(version, snapshotVersion)) {
        written += version;
        snapshotVersion = version;
      }
      expect(version - snapshotVersion).toBeLessThan(Math.max(200, version / 2.9));
    }
    expect(written).toBeLessThan(4 * 20_000);
  });

  it('is not taken of a short run', () => {
    expect([at(199, 0), at(200, 0)]).toEqual([false, true]);
  });
});
