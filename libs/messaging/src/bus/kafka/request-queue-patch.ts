import { createRequire } from 'node:module';

/** The parts of kafkajs 2.2.4's request queue that the patch reads. */
interface RequestQueue {
  throttledUntil: number;
  throttleCheckTimeoutId: NodeJS.Timeout | null;
  readonly pending: readonly unknown[];
  checkPendingRequests(): void;
}

const IDLE_CHECK_MS = 10;

/**
 * kafkajs arms a timer with a negative delay on every connection, which Node runs each millisecond for as long as the connection lives (4 % of a
 * core when idle, and a warning). The check is only needed while requests wait.
 */
function scheduleCheckPendingRequests(this: RequestQueue): void {
  if (this.throttleCheckTimeoutId !== null || this.pending.length === 0) return;
  const waitMs = this.throttledUntil - Date.now();
  this.throttleCheckTimeoutId = setTimeout(
    () => {
      this.throttleCheckTimeoutId = null;
      this.checkPendingRequests();
    },
    waitMs > 0 ? waitMs : IDLE_CHECK_MS,
  );
}

/** CAUTION: must run before the first `new Kafka()` of the process; may be called again. */
export function patchRequestQueue(): void {
  const queue = createRequire(import.meta.url)('kafkajs/src/network/requestQueue') as { prototype: object };
  Object.assign(queue.prototype, { scheduleCheckPendingRequests });
}
