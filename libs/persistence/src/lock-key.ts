import { createHash } from 'node:crypto';

/** The two 32-bit numbers of an advisory lock. CAUTION: releases that run side by side must derive the same ones. */
export function lockKey(name: string): readonly [number, number] {
  const hash = createHash('sha256').update(`lineclear ${name}`).digest();
  return [hash.readInt32BE(0), hash.readInt32BE(4)];
}
