import { setTimeout as delay } from 'node:timers/promises';

export interface EventuallyOptions {
  /** Default 10 s. */
  readonly timeoutMs?: number;
  /** Default 20 ms. */
  readonly intervalMs?: number;
}

/**
 * Calls `check` until it neither throws nor answers false, and returns its answer.
 * @throws what `check` threw last, or an Error, when the time is over
 */
export async function eventually<T>(
  check: () => T | Promise<T>,
  options: EventuallyOptions = {},
): Promise<Exclude<T, false>> {
  const { timeoutMs = 10_000, intervalMs = 20 } = options;
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    try {
      const answer = await check();
      if (answer !== false) return answer as Exclude<T, false>;
      if (performance.now() > deadline) throw new Error(`still false after ${timeoutMs} ms`);
    } catch (error) {
      if (performance.now() > deadline) throw error;
    }
    await delay(intervalMs);
  }
}
