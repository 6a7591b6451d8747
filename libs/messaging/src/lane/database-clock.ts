/** Slew towards later samples that say an earlier time, as the share of the elapsed time. */
const SLEW = 0.0005;
/** A sample this far behind means that the database's clock was set back. */
const STEP_MS = 1_000;

/**
 * The database's time, carried between statements by the monotonic clock. A sample is as old as its answer took, so this clock is never ahead
 * of the database: what it calls expired is expired there. It does not run backwards unless the database's clock was set back.
 */
export class DatabaseClock {
  #offset = Number.NEGATIVE_INFINITY;
  #sampledAt = 0;

  /** Takes the database's time in an answer just received. `monotonic` is for tests. */
  sample(databaseMs: number, monotonic = performance.now()): void {
    const seen = databaseMs - monotonic;
    const slewed = this.#offset - (monotonic - this.#sampledAt) * SLEW;
    this.#offset = seen > slewed || slewed - seen > STEP_MS ? seen : slewed;
    this.#sampledAt = monotonic;
  }

  /** Milliseconds since the epoch, whole. */
  now(monotonic = performance.now()): number {
    return Math.floor(this.#offset + monotonic);
  }
}
