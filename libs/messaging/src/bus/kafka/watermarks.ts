/** A partition by its wire name. */
export interface WirePosition {
  readonly topic: string;
  readonly partition: number;
  /** next offset to read */
  readonly next: bigint;
}

const keyOf = (topic: string, partition: number): string => `${topic}/${partition}`;

/**
 * How far each partition of ours is done: what may be committed to the broker, and where reading starts again after a retake.
 * The lane acknowledges in order and only what is committed in its database, so that the latest `next` stands for all before it.
 */
export class Watermarks {
  readonly #marks = new Map<string, WirePosition>();
  readonly #dirty = new Set<string>();

  /** Where the broker says that reading starts. */
  reset(positions: readonly WirePosition[]): void {
    this.#marks.clear();
    this.#dirty.clear();
    for (const position of positions) this.#marks.set(keyOf(position.topic, position.partition), position);
  }

  /** Ignores partitions that are not ours, and what is behind the mark (acknowledged late, after a retake). */
  acknowledge(position: WirePosition): void {
    const key = keyOf(position.topic, position.partition);
    const mark = this.#marks.get(key);
    if (mark === undefined || position.next <= mark.next) return;
    this.#marks.set(key, position);
    this.#dirty.add(key);
  }

  /**
   * The broker gives a record that was acknowledged before: the topic was made anew.
   * @returns whether it is so; the mark is then where it begins
   */
  rewind(position: WirePosition): boolean {
    const key = keyOf(position.topic, position.partition);
    const mark = this.#marks.get(key);
    if (mark === undefined || position.next >= mark.next) return false;
    this.#marks.set(key, position);
    return true;
  }

  of(partitions: readonly number[]): WirePosition[] {
    return [...this.#marks.values()].filter(({ partition }) => partitions.includes(partition));
  }

  /** A commit failed: what is still ours and not yet passed must be committed again. */
  markDirty(positions: readonly WirePosition[]): void {
    for (const { topic, partition } of positions) {
      const key = keyOf(topic, partition);
      if (this.#marks.has(key)) this.#dirty.add(key);
    }
  }

  get isDirty(): boolean {
    return this.#dirty.size > 0;
  }

  /** What moved since the last call. */
  takeDirty(): WirePosition[] {
    const taken = [...this.#dirty].flatMap((key) => this.#marks.get(key) ?? []);
    this.#dirty.clear();
    return taken;
  }
}
