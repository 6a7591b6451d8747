import type { HeldRef } from './held-row.js';

/** Which keys of a shard are held, and in what order; the messages themselves stay in the table. */
export class HeldIndex {
  readonly #byKey = new Map<string, HeldRef[]>();
  readonly #messages = new Set<string>();

  /** Adds behind what the key has already. */
  append(ref: HeldRef): void {
    const refs = this.#byKey.get(ref.key);
    if (refs === undefined) this.#byKey.set(ref.key, [ref]);
    else refs.push(ref);
    this.#messages.add(message(ref.source, ref.id));
  }

  replace(ref: HeldRef): void {
    const refs = this.#byKey.get(ref.key) ?? [];
    const index = refs.findIndex(({ n }) => n === ref.n);
    if (index >= 0) refs[index] = ref;
  }

  /** Takes one out and returns the key's first message then, or undefined when the key is free. */
  remove({ key, n, source, id }: Pick<HeldRef, 'key' | 'n' | 'source' | 'id'>): HeldRef | undefined {
    const rest = (this.#byKey.get(key) ?? []).filter((ref) => ref.n !== n);
    this.#messages.delete(message(source, id));
    if (rest.length === 0) this.#byKey.delete(key);
    else this.#byKey.set(key, rest);
    return rest[0];
  }

  isHeld(key: string): boolean {
    return this.#byKey.has(key);
  }

  first(key: string): HeldRef | undefined {
    return this.#byKey.get(key)?.[0];
  }

  find(key: string, heldId: string): HeldRef | undefined {
    return this.#byKey.get(key)?.find((ref) => ref.heldId === heldId);
  }

  /** Number that the key's next message gets. */
  nextN(key: string): number {
    return (this.#byKey.get(key)?.at(-1)?.n ?? 0) + 1;
  }

  hasMessage(source: string, id: string): boolean {
    return this.#messages.has(message(source, id));
  }

  keys(): IterableIterator<string> {
    return this.#byKey.keys();
  }

  get size(): number {
    return this.#byKey.size;
  }
}

/** A message by its source and id, as one text. */
export function message(source: string, id: string): string {
  return `${source}\u001f${id}`;
}
