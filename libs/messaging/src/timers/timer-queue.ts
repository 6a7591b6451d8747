export const timerKey = (key: string, name: string): string => `${key}\u001f${name}`;

interface Due<T> {
  readonly at: number;
  readonly item: T;
}

/** A binary heap by due time. What was cancelled stays in until its time and is sorted out by the taker. */
export class DueQueue<T> {
  readonly #heap: Due<T>[] = [];

  get size(): number {
    return this.#heap.length;
  }

  /** Due time of the first, or undefined when empty. */
  get next(): number | undefined {
    return this.#heap[0]?.at;
  }

  push(at: number, item: T): void {
    const heap = this.#heap;
    let index = heap.length;
    const due = { at, item };
    heap.push(due);
    while (index > 0) {
      const parent = (index - 1) >> 1;
      const above = heap[parent];
      if (above === undefined || above.at <= at) break;
      heap[index] = above;
      index = parent;
    }
    heap[index] = due;
  }

  /** Takes the first that is due at `now`. */
  take(now: number): T | undefined {
    const heap = this.#heap;
    const first = heap[0];
    if (first === undefined || first.at > now) return undefined;
    const last = heap.pop();
    if (last !== undefined && heap.length > 0) this.#sink(last);
    return first.item;
  }

  #sink(due: Due<T>): void {
    const heap = this.#heap;
    let index = 0;
    for (;;) {
      let child = 2 * index + 1;
      let below = heap[child];
      if (below === undefined) break;
      const right = heap[child + 1];
      if (right !== undefined && right.at < below.at) {
        below = right;
        child += 1;
      }
      if (below.at >= due.at) break;
      heap[index] = below;
      index = child;
    }
    heap[index] = due;
  }
}
