const PER_MS = 1_000;

/** The first arrival of a millisecond. */
export const arrivalAt = (now: Date): number => now.getTime() * PER_MS;

/**
 * Numbers that order arrivals: milliseconds of the database's clock times 1,000, and more when many come at once. INVARIANT: strictly growing in one process;
 * a run belongs to one owner at a time, so its events keep their order over restarts and moves as far as the database's clock does not step back.
 */
export class ArrivalClock {
  #last = 0;

  next(now: Date): number {
    this.#last = Math.max(this.#last + 1, arrivalAt(now));
    return this.#last;
  }
}
