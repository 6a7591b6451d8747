import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { cursorAt, pageLimit, pageOf, pageSchema, pageStartOf } from './page.js';

const AT = '2026-11-30T10:00:00.000Z';

describe('a page', () => {
  it('names its last item as the cursor when it is full', () => {
    const page = pageOf(['a', 'b'], 2, (last) => cursorAt(AT, last));
    expect(page).toEqual({ items: ['a', 'b'], next: `${AT}~b` });
    expect(pageSchema(z.string()).parse(page)).toEqual(page);
    expect(pageStartOf(page.next)).toEqual({ at: new Date(AT), id: 'b' });
  });

  it.each([[['a']], [[]]])('is the last one when there is room in it: %j', (items) => {
    const page = pageOf<string>(items, 2, (last) => cursorAt(AT, last));
    expect(page).toStrictEqual({ items });
    expect(pageSchema(z.string()).parse(page)).toStrictEqual(page);
  });

  it('starts at the head of the list without a cursor', () => {
    expect(pageStartOf(undefined)).toBeUndefined();
  });

  it.each(['', '~', 'x', AT, `${AT}~`, '2026-11-30~a', '2026-11-30T10:00:00+02:00~a'])(
    'refuses the cursor %j, which no list gave',
    (cursor) => {
      expect(() => pageStartOf(cursor)).toThrow(
        expect.objectContaining({
          code: 'invalid-request',
          message: `the cursor \`${cursor}\` is none that this list gave`,
          details: { where: 'query `after`', seen: cursor, expected: '`next` of the page before' },
        }),
      );
    },
  );

  it('names the member of the query in the refusal', () => {
    expect(() => pageStartOf('x', { member: 'cursor', expected: 'another' })).toThrow(
      expect.objectContaining({ details: { where: 'query `cursor`', seen: 'x', expected: 'another' } }),
    );
  });

  it('has a limit: whole, from 1 to the greatest, with a default', () => {
    const limit = pageLimit(50, 200);
    expect([undefined, '1', '200'].map((asked) => limit.parse(asked))).toEqual([50, 1, 200]);
    for (const wrong of ['0', '201', '1.5', 'x', '', ['1', '2']]) expect(limit.safeParse(wrong).success).toBe(false);
  });
});
