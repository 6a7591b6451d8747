interface Caused {
  readonly id: string;
  readonly causationid?: string | undefined;
}

/**
 * Keeps the order given, except that an event never stands before the one that caused it, as topics may overtake one another on their way, nor before
 * an earlier one of its own log: a cause that is moved forward takes along what its service had said until then.
 * @param logOf names the log that an event was read from, in whose order it is given
 */
export function causalOrder<E extends Caused>(events: readonly E[], logOf: (event: E) => string): E[] {
  const waitsFor = predecessors(events, logOf);
  const ordered = new Set<E>();
  for (const event of events) place(event, waitsFor, ordered);
  return [...ordered];
}

type Predecessors<E> = ReadonlyMap<E, readonly E[]>;

function predecessors<E extends Caused>(events: readonly E[], logOf: (event: E) => string): Predecessors<E> {
  const byId = new Map(events.map((event) => [event.id, event]));
  const last = new Map<string, E>();
  const found = new Map<E, readonly E[]>();
  for (const event of events) {
    const log = logOf(event);
    const cause = event.causationid === undefined ? undefined : byId.get(event.causationid);
    found.set(
      event,
      [cause, last.get(log)].filter((one) => one !== undefined),
    );
    last.set(log, event);
  }
  return found;
}

/** CAUTION: what a stranger wrote may name causes in a circle; whoever is waited for already is not waited for again. */
function place<E>(event: E, waitsFor: Predecessors<E>, ordered: Set<E>): void {
  const path = [event];
  const open = new Set(path);
  for (let top = path.at(-1); top !== undefined; top = path.at(-1)) {
    const next = waitsFor.get(top)?.find((one) => !ordered.has(one) && !open.has(one));
    if (next === undefined) {
      ordered.add(top);
      path.pop();
    } else {
      open.add(next);
      path.push(next);
    }
  }
}
