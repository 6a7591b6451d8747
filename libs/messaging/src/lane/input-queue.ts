import type { Shard } from './shard.js';
import type { Work } from './work.js';

/** First in, first out, in amortised constant time. */
class Fifo {
  #items: Work[] = [];
  #head = 0;

  get size(): number {
    return this.#items.length - this.#head;
  }

  push(work: Work): void {
    this.#items.push(work);
  }

  unshift(works: readonly Work[]): void {
    this.#items = [...works, ...this.#items.slice(this.#head)];
    this.#head = 0;
  }

  get first(): Work | undefined {
    return this.#items[this.#head];
  }

  shift(): void {
    this.#head += 1;
    if (this.#head < 64 || this.#head * 2 < this.#items.length) return;
    this.#items = this.#items.slice(this.#head);
    this.#head = 0;
  }
}

/** What waits for a batch: in order of arrival per shard, taken round-robin over the shards. */
export class InputQueue {
  readonly #queues = new Map<Shard, Fifo>();
  /** shards with work, the next one first */
  #ring: Shard[] = [];
  #bytes = 0;
  #size = 0;

  get bytes(): number {
    return this.#bytes;
  }

  get size(): number {
    return this.#size;
  }

  push(work: Work): void {
    this.#queue(work.shard).push(work);
    this.#count(work, 1);
  }

  /** Puts works of a batch that was not committed back in front, in their order. */
  putBack(works: readonly Work[]): void {
    const byShard = Map.groupBy(works, (work) => work.shard);
    for (const [shard, own] of byShard) {
      if (shard.isLost) continue;
      this.#queue(shard).unshift(own);
      for (const work of own) this.#count(work, 1);
    }
  }

  /** Takes a batch: at least one work if there is any, at most `limit` works and about `maxBytes` bytes. */
  take(limit: number, maxBytes: number): Work[] {
    const works: Work[] = [];
    let bytes = 0;
    while (this.#ring.length > 0 && works.length < limit && bytes < maxBytes) {
      const shard = this.#ring.shift();
      const fifo = shard === undefined ? undefined : this.#queues.get(shard);
      const work = fifo?.first;
      if (shard === undefined || fifo === undefined || work === undefined) continue;
      fifo.shift();
      if (fifo.size > 0) this.#ring.push(shard);
      works.push(work);
      bytes += work.bytes;
      this.#count(work, -1);
    }
    return works;
  }

  /** Forgets a shard that is lost, and returns what waited there. */
  drop(shard: Shard): Work[] {
    const fifo = this.#queues.get(shard);
    const works: Work[] = [];
    for (let work = fifo?.first; fifo !== undefined && work !== undefined; work = fifo.first) {
      fifo.shift();
      works.push(work);
      this.#count(work, -1);
    }
    this.#queues.delete(shard);
    this.#ring = this.#ring.filter((other) => other !== shard);
    return works;
  }

  #queue(shard: Shard): Fifo {
    let fifo = this.#queues.get(shard);
    if (fifo === undefined) this.#queues.set(shard, (fifo = new Fifo()));
    if (fifo.size === 0) this.#ring.push(shard);
    return fifo;
  }

  #count(work: Work, sign: 1 | -1): void {
    this.#bytes += sign * work.bytes;
    this.#size += sign;
  }
}
