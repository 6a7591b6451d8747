const WINDOW_MS = 10_000;
/** Fewer failing keys than this say nothing about the whole. */
const MINIMUM = 8;
const FIRST_MS = 1_000;
const LAST_MS = 30_000;

/**
 * Notices that more than half of the keys fail. After a pause one bad batch is enough for the next, until a batch goes well.
 */
export class PauseWatch {
  #since = 0;
  #pauses = 0;
  readonly #tried = new Set<string>();
  readonly #failed = new Set<string>();

  /** @returns how long to pause, or undefined. Times are monotonic. */
  see(tried: Iterable<string>, failed: ReadonlySet<string>, now: number): number | undefined {
    if (failed.size === 0 && this.#failed.size === 0) {
      this.#pauses = 0;
      return undefined;
    }
    if (now - this.#since > WINDOW_MS) this.#restart(now);
    for (const key of tried) {
      this.#tried.add(key);
      if (!failed.has(key)) this.#failed.delete(key);
    }
    for (const key of failed) this.#failed.add(key);
    const minimum = this.#pauses > 0 ? 1 : MINIMUM;
    if (this.#failed.size < minimum || this.#failed.size * 2 <= this.#tried.size) {
      if (failed.size === 0 && this.#tried.size > 0) this.#pauses = 0;
      return undefined;
    }
    this.#restart(now);
    const pauseMs = Math.min(LAST_MS, FIRST_MS * 2 ** this.#pauses);
    this.#pauses += 1;
    return pauseMs;
  }

  #restart(now: number): void {
    this.#since = now;
    this.#tried.clear();
    this.#failed.clear();
  }
}
