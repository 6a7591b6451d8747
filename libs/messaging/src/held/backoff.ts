import { dispositionOf } from '@lineclear/errors';

const BASE_MS = 200;
const CAP_MS = 60_000;
const ATTEMPTS = { retry: 10, 'retry-now': 10, cancelled: 10, 'retry-few': 4, terminal: 0 } as const;

/**
 * When a message that failed is tried again, or undefined when it is parked.
 * @param attempts how often it has failed, this time included
 * @param random in [0, 1): full jitter, so that what failed together does not come back together
 */
export function retryDelayMs(error: unknown, attempts: number, random: () => number = Math.random): number | undefined {
  if (attempts >= ATTEMPTS[dispositionOf(error)]) return undefined;
  const asked = error instanceof Error && 'retryAfterMs' in error ? Number(error.retryAfterMs ?? 0) : 0;
  return Math.min(CAP_MS, Math.max(asked, random() * BASE_MS * 2 ** attempts));
}

/** The same for what is never parked, such as a timer: later and later, without end. */
export function laterMs(tries: number, random: () => number = Math.random): number {
  return random() * Math.min(CAP_MS, BASE_MS * 2 ** tries);
}
