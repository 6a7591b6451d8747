import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { causalOrder } from './causal-order.js';

/** Letters are events of logs of their own; `r1`, `r2` are of one log. */
const ordered = <E extends { id: string; causationid?: string | undefined }>(events: readonly E[]) =>
  causalOrder(events, ({ id }) => (id.length === 1 ? id : (id[0] ?? '')));
const ids = (events: readonly { id: string }[]) => events.map((event) => event.id).join('');

describe('causal order', () => {
  it('leaves an order that is right as it is', () => {
    expect(ids(ordered([{ id: 'a' }, { id: 'b', causationid: 'a' }, { id: 'c', causationid: 'elsewhere' }]))).toBe(
      'abc',
    );
  });

  it('puts a whole chain of causes first', () => {
    const events = [{ id: 'c', causationid: 'b' }, { id: 'x' }, { id: 'b', causationid: 'a' }, { id: 'a' }];
    expect(ids(ordered(events))).toBe('abcx');
  });

  it('keeps the order of each log when a cause is moved forward', () => {
    const events = [{ id: 'p', causationid: 'r2' }, { id: 'r1' }, { id: 'r2' }, { id: 'r3' }];
    expect(ordered(events).map(({ id }) => id)).toEqual(['r1', 'r2', 'p', 'r3']);
  });

  it('survives causes in a circle and keeps every event once', () => {
    const event = fc.record({
      id: fc.constantFrom('a', 'b', 'c', 'd', 'e'),
      causationid: fc.constantFrom('a', 'b', 'c', 'd', 'e', 'elsewhere'),
    });
    fc.assert(
      fc.property(fc.uniqueArray(event, { selector: ({ id }) => id }), (events) => {
        expect(ids(ordered(events)).split('').sort()).toEqual(events.map(({ id }) => id).sort());
      }),
    );
  });
});
