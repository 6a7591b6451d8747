import { derivedId } from '@lineclear/contracts';
import type { Fact, Owner } from './fact.js';

export type NewFact = Omit<Fact, 'id' | 'supersededBy'>;

export const factIdOf = ({ tenant, subject }: Owner, topic: string | null, text: string): string =>
  `fct_${derivedId('fact', tenant, subject, topic === null ? 'note' : 'topic', topic ?? '', text).slice(0, 24)}`;

/**
 * Takes one fact in. `onTopic` holds every fact of the same owner and topic, superseded ones too (for a note: the same note, if it is known).
 * Answers the facts that change, complete; none when nothing does.
 *
 * The order of arrival does not matter. Of the facts on a topic the winner is: stated before inferred, then the newest event time, then the
 * greatest id. The same fact again keeps the better of the two standings, so that a replayed old one changes nothing. Nothing is deleted.
 */
export function remember(onTopic: readonly Fact[], arrived: NewFact): Fact[] {
  const id = factIdOf(arrived, arrived.topic, arrived.text);
  const known = onTopic.find((fact) => fact.id === id);
  const merged = merge(known, { ...arrived, id, supersededBy: null });
  const all = [...onTopic.filter((fact) => fact.id !== id), merged];
  const winner = all.reduce((best, fact) => (beats(fact, best) ? fact : best));
  return all
    .map((fact) => ({ ...fact, supersededBy: fact.id === winner.id ? null : winner.id }))
    .filter(
      (fact) =>
        !isSame(
          fact,
          onTopic.find((before) => before.id === fact.id),
        ),
    );
}

function merge(known: Fact | undefined, arrived: Fact): Fact {
  if (known === undefined) return arrived;
  const order = compareStanding(arrived, known);
  return order > 0 || (order === 0 && restOf(arrived) > restOf(known)) ? arrived : known;
}

function beats(fact: Fact, other: Fact): boolean {
  const order = compareStanding(fact, other);
  return order > 0 || (order === 0 && fact.id > other.id);
}

function compareStanding(a: Fact, b: Fact): number {
  return Number(a.stated) - Number(b.stated) || a.eventTime.getTime() - b.eventTime.getTime();
}

/** What may differ between two tellings of the same fact at the same time; its order makes the choice independent of their arrival. */
const restOf = ({ source, kind, label }: Fact): string =>
  [source, kind, label.confidentiality, label.integrity].join('\n');

function isSame(fact: Fact, before: Fact | undefined): boolean {
  return (
    before !== undefined &&
    before.supersededBy === fact.supersededBy &&
    compareStanding(fact, before) === 0 &&
    restOf(fact) === restOf(before)
  );
}
