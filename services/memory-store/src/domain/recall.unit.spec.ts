import { describe, expect, it } from 'vitest';
import { boundedRecall, labelOf } from './recall.js';

const facts = (...texts: string[]) => texts.map((text) => ({ text }));

describe('a bounded recall', () => {
  it('takes at most k facts, in their order', () => {
    expect(boundedRecall(facts('a', 'b', 'c'), 2, 100)).toEqual(facts('a', 'b'));
    expect(boundedRecall(facts('a'), 0, 100)).toEqual([]);
  });

  it('passes over what does not fit and goes on', () => {
    expect(boundedRecall(facts('x'.repeat(40), 'y'.repeat(400), 'z'.repeat(40)), 5, 20)).toEqual(
      facts('x'.repeat(40), 'z'.repeat(40)),
    );
  });
});

describe('the label of a recall', () => {
  it('is the most closed and least trusted of its facts', () => {
    expect(
      labelOf([
        { label: { confidentiality: 'restricted', integrity: 'trusted' } },
        { label: { confidentiality: 'public', integrity: 'untrusted' } },
      ]),
    ).toEqual({ confidentiality: 'restricted', integrity: 'untrusted' });
  });

  it('of nothing is internal and trusted', () => {
    expect(labelOf([])).toEqual({ confidentiality: 'internal', integrity: 'trusted' });
  });
});
