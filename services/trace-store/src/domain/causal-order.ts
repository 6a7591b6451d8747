interface Caused {
  readonly id: string;
  readonly causationid?: string | undefined;
}

/** Keeps the order given, except that an event never stands before the one that caused it: topics may overtake one another on their way. */
export function causalOrder<E extends Caused>(events: readonly E[]): E[] {
  const byId = new Map(events.map((event) => [event.id, event]));
  const placed = new Set<string>();
  const ordered: E[] = [];
  for (const event of events) {
    const chain: E[] = [];
    let next: E | undefined = event;
    while (next !== undefined && !placed.has(next.id)) {
      placed.add(next.id);
      chain.push(next);
      next = next.causationid === undefined ? undefined : byId.get(next.causationid);
    }
    ordered.push(...chain.reverse());
  }
  return ordered;
}
