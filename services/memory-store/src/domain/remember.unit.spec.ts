import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { newFact } from '../testing/mothers.js';
import type { Fact } from './fact.js';
import { type NewFact, remember } from './remember.js';

const NOTE = newFact({ topic: 'home city', text: 'lives in Pune' });
const MOVED: NewFact = { ...NOTE, text: 'lives in Bengaluru', eventTime: new Date('2026-03-02T00:00:00Z') };

/** Applies arrivals in order to one topic, as the store would. */
function after(arrivals: readonly NewFact[]): Fact[] {
  const facts = new Map<string, Fact>();
  for (const arrived of arrivals) for (const fact of remember([...facts.values()], arrived)) facts.set(fact.id, fact);
  return [...facts.values()].sort((a, b) => (a.id < b.id ? -1 : 1));
}

const current = (facts: readonly Fact[]) => facts.filter((fact) => fact.supersededBy === null).map((fact) => fact.text);

function permutations<T>(items: readonly T[]): T[][] {
  if (items.length <= 1) return [[...items]];
  return items.flatMap((item, index) => permutations(items.toSpliced(index, 1)).map((rest) => [item, ...rest]));
}

describe('remembering a fact', () => {
  it('keeps the older fact as superseded by the newer one', () => {
    const facts = after([NOTE, MOVED]);
    expect(current(facts)).toEqual(['lives in Bengaluru']);
    const winner = facts.find((fact) => fact.text === MOVED.text);
    expect(facts.find((fact) => fact.text === NOTE.text)).toMatchObject({ supersededBy: winner?.id });
  });

  it('does not let a replayed January message bring the old city back', () => {
    const facts = after([NOTE, MOVED]);
    expect(remember(facts, NOTE)).toEqual([]);
  });

  it('takes the same fact again as no new fact, with its newer time', () => {
    const later = { ...NOTE, eventTime: new Date('2026-02-01T00:00:00Z') };
    const facts = after([NOTE, later, NOTE]);
    expect(facts).toHaveLength(1);
    expect(facts[0]).toMatchObject({ eventTime: later.eventTime, supersededBy: null });
  });

  it('lets a fact that is true again win again', () => {
    const again = { ...NOTE, eventTime: new Date('2026-06-01T00:00:00Z') };
    expect(current(after([NOTE, MOVED, again]))).toEqual(['lives in Pune']);
  });

  it('prefers what was stated to what was inferred later', () => {
    expect(current(after([NOTE, { ...MOVED, stated: false }]))).toEqual(['lives in Pune']);
    expect(current(after([{ ...MOVED, stated: false }, NOTE]))).toEqual(['lives in Pune']);
  });

  it('settles equal times by the id, whoever came first', () => {
    const equal = { ...MOVED, eventTime: NOTE.eventTime };
    expect(after([NOTE, equal])).toEqual(after([equal, NOTE]));
    expect(current(after([NOTE, equal]))).toHaveLength(1);
  });

  it('answers the same for every order of set, same, contradiction and old replay, with duplicates', () => {
    const same = { ...NOTE, eventTime: new Date('2026-02-01T00:00:00Z') };
    const orders = permutations([NOTE, same, MOVED, NOTE]);
    const results = orders.map((order) => after([...order, ...order.slice(0, 2)]));
    for (const result of results) expect(result).toEqual(results[0]);
    expect(current(results[0] ?? [])).toEqual(['lives in Bengaluru']);
  });

  it('has exactly one current fact per topic, independent of order and repetition', () => {
    const arrival = fc.record({
      text: fc.constantFrom('a', 'b', 'c'),
      day: fc.integer({ min: 1, max: 4 }),
      stated: fc.boolean(),
      source: fc.constantFrom('run_1', 'run_2'),
    });
    const input = fc
      .array(arrival, { minLength: 1, maxLength: 8 })
      .chain((items) => fc.tuple(fc.constant(items), fc.shuffledSubarray(items, { minLength: items.length })));
    const fact = ({ day, ...told }: Pick<NewFact, 'text' | 'stated' | 'source'> & { day: number }): NewFact => ({
      ...NOTE,
      ...told,
      eventTime: new Date(Date.UTC(2026, 0, day)),
    });
    fc.assert(
      fc.property(input, ([items, shuffled]) => {
        const facts = after(items.map(fact));
        expect(current(facts)).toHaveLength(1);
        expect(after([...shuffled, ...items].map(fact))).toEqual(facts);
      }),
    );
  });
});
