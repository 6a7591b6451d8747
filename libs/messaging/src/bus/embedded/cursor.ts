import type { Topic } from '@lineclear/contracts';
import type { BusRecord } from '../bus.js';

/**
 * How far one subscriber has read one partition of a topic. INVARIANT: records are accepted in order without a gap; whoever hands over one that is
 * not the next makes the cursor read the table.
 */
export class Cursor {
  /** first offset that the table may have beyond `next`; known from records that were not accepted */
  #head: bigint;
  #isUnread = true;
  #isReading = false;
  /** everything below was done by the subscriber, and committed */
  acknowledged: bigint;

  constructor(
    readonly topic: Topic,
    readonly partition: number,
    public next: bigint,
  ) {
    this.#head = next;
    this.acknowledged = next;
  }

  /** Whether the table may hold records that were not delivered. */
  get isBehind(): boolean {
    return this.#isUnread || this.#head > this.next;
  }

  /** Something may have been appended without a hand-over. */
  markUnread(): void {
    this.#isUnread = true;
  }

  /** Takes a record handed over in the process, if it is the next. */
  accept(record: BusRecord): boolean {
    if (this.isNext(record, 0)) {
      this.next += 1n;
      this.#head = this.next;
      return true;
    }
    if (record.offset >= this.#head) this.#head = record.offset + 1n;
    return false;
  }

  /** Whether it would take that record after `ahead` others. */
  isNext({ offset }: BusRecord, ahead: number): boolean {
    return !this.isBehind && !this.#isReading && offset === this.next + BigInt(ahead);
  }

  /** A read of the table begins: until its end nothing is accepted, and what is offered or marked meanwhile is not part of it. */
  beginRead(): void {
    this.#isUnread = false;
    this.#isReading = true;
  }

  /** @param isFull the read ended at its limit, so there may be more */
  endRead(records: readonly BusRecord[], isFull: boolean): void {
    this.#isReading = false;
    const last = records.at(-1);
    if (last !== undefined) this.next = last.offset + 1n;
    if (isFull) this.#isUnread = true;
  }

  failRead(): void {
    this.#isReading = false;
    this.#isUnread = true;
  }
}
