import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { causalOrder } from './causal-order.js';

const ids = (events: readonly { id: string }[]) => events.map((event) => event.id).join('');

describe('causal order', () => {
  it('leaves an order that is right as it is', () => {
    expect(ids(causalOrder([{ id: 'a' }, { id: 'b', causationid: 'a' }, { id: 'c', causationid: 'elsewhere' }]))).toBe(
      'abc',
    );
  });

  it('puts a whole chain of causes first', () => {
    const events = [{ id: 'c', causationid: 'b' }, { id: 'x' }, { id: 'b', causationid: 'a' }, { id: 'a' }];
    expect(ids(causalOrder(events))).toBe('abcx');
  });

  it('survives causes in a circle and keeps every event once', () => {
    const event = fc.record({
      id: fc.constantFrom('a', 'b', 'c', 'd', 'e'),
      causationid: fc.constantFrom('a', 'b', 'c', 'd', 'e', 'elsewhere'),
    });
    fc.assert(
      fc.property(fc.uniqueArray(event, { selector: ({ id }) => id }), (events) => {
        expect(ids(causalOrder(events)).split('').sort()).toEqual(events.map(({ id }) => id).sort());
      }),
    );
  });
});
