import type { Log } from '../lane/log.js';
import type { SidePool } from '../lane/side-pool.js';

const DAY_MS = 86_400_000;
const DAYS_AHEAD = 2;

/** One table partition of the log per day; days without one go to `outbox_rest`. */
export class OutboxPartitions {
  constructor(
    private readonly pool: SidePool,
    private readonly log: Log,
  ) {}

  /** Makes the partitions of today and the next days. A day that has rows in `outbox_rest` already stays there. @throws TransientError */
  async ensure(nowMs: number): Promise<void> {
    const today = Math.floor(nowMs / DAY_MS);
    for (let bucket = today; bucket <= today + DAYS_AHEAD; bucket += 1) {
      const text = `CREATE TABLE IF NOT EXISTS outbox_${bucket} PARTITION OF outbox FOR VALUES FROM (${bucket}) TO (${bucket + 1})`;
      await this.pool.query(text).catch((error: unknown) => {
        if (!isRowsInTheWay(error)) throw error;
        this.log.warn({ bucket }, 'a day of the log has no partition of its own and cannot be dropped alone');
      });
    }
  }
}

/** 23514: the default partition has rows of that day; 42P07: another process made it just now. */
function isRowsInTheWay(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === '23514' || error.code === '42P07');
}
