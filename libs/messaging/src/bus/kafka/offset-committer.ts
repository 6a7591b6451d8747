import type { Log } from '../../lane/log.js';
import type { Watermarks, WirePosition } from './watermarks.js';

/** Positions only spare work after a restart, so that they may lag; a commit costs as much CPU as many records. */
const COMMIT_EVERY_MS = 200;
const RETRY_AFTER_MS = 2_000;

/** Commits what moved, at most five times a second and one request at a time. */
export class OffsetCommitter {
  #timer: NodeJS.Timeout | undefined;
  #running: Promise<void> | undefined;

  constructor(
    private readonly watermarks: Watermarks,
    private readonly send: (positions: readonly WirePosition[]) => Promise<void>,
    private readonly log: Log,
  ) {}

  /** Something was acknowledged. */
  schedule(afterMs = COMMIT_EVERY_MS): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      if (this.#running === undefined) void this.flush();
    }, afterMs);
  }

  /** Sends at once what moved; resolves when it is committed or has failed. Never rejects. */
  async flush(): Promise<void> {
    const positions = this.watermarks.takeDirty();
    if (positions.length === 0) return await this.#running;
    const earlier = this.#running;
    const mine = Promise.all([earlier, this.#commit(positions)]).then(() => undefined);
    this.#running = mine;
    await mine;
    if (this.#running === mine) this.#running = undefined;
    if (this.watermarks.isDirty) this.schedule();
  }

  cancel(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  async #commit(positions: readonly WirePosition[]): Promise<void> {
    try {
      await this.send(positions);
    } catch (error) {
      this.log.warn({ error }, 'offsets were not committed; records may be read again');
      this.watermarks.markDirty(positions);
      this.schedule(RETRY_AFTER_MS);
    }
  }
}
