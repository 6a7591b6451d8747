/**
 * Append-only list with shared storage: `append` is O(1) amortised and older views stay valid. Two appends to the same view copy once.
 * INVARIANT: items below `length` never change.
 */
export class AppendLog<T> {
  private constructor(
    private readonly items: T[],
    readonly length: number,
  ) {}

  static of<T>(items: readonly T[]): AppendLog<T> {
    return new AppendLog([...items], items.length);
  }

  append(...added: readonly T[]): AppendLog<T> {
    if (added.length === 0) return this;
    const items = this.items.length === this.length ? this.items : this.items.slice(0, this.length);
    items.push(...added);
    return new AppendLog(items, items.length);
  }

  at(index: number): T | undefined {
    const position = index < 0 ? this.length + index : index;
    return position < this.length ? this.items[position] : undefined;
  }

  toArray(): T[] {
    return this.items.slice(0, this.length);
  }
}
