import { setTimeout as delay } from 'node:timers/promises';

const FIRST_PAUSE_MS = 200;
const LAST_PAUSE_MS = 10_000;

/** Pause before repetition `n` (from 0): exponential with full jitter, 200 ms to 10 s. @param random 0 to 1 */
export function pauseMs(n: number, random: number): number {
  return Math.ceil(Math.min(LAST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** n) * random);
}

/**
 * Repeats until it succeeds; resolves undefined when the signal aborts first. `onError` is told of every failure and may throw to give up.
 */
export async function repeat<T>(
  attempt: () => Promise<T>,
  options: { readonly signal: AbortSignal; readonly onError: (error: unknown, n: number) => void },
): Promise<T | undefined> {
  const { signal, onError } = options;
  for (let n = 0; !signal.aborted; n++) {
    try {
      return await attempt();
    } catch (error) {
      if (signal.aborted) return undefined;
      onError(error, n);
      await delay(pauseMs(n, Math.random()), undefined, { signal }).catch(() => undefined);
    }
  }
  return undefined;
}
