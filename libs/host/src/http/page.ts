import { InvalidMessageError } from '@lineclear/errors';
import { z } from 'zod';

/** The item behind which a page starts, in a list that is ordered by a time and, where times are equal, by an id. */
export interface PageStart {
  readonly at: Date;
  readonly id: string;
}

/** Where a cursor came in, and what the refusal of a bad one says was expected. */
export interface CursorOrigin {
  /** Member of the query. Default `after`. */
  readonly member?: string;
  /** Default: `next` of the page before. */
  readonly expected?: string;
}

/** The query member `limit`: items a page, whole, from 1 to `max`, and `unasked` when the query names none. Others are refused as `invalid-request`. */
export const pageLimit = (unasked: number, max: number) => z.coerce.number().int().min(1).max(max).default(unasked);

/** Schema of the answer of a list: `next` is the cursor of the page that follows, absent when there is none. */
export const pageSchema = <Item extends z.ZodType>(item: Item) =>
  z.object({ items: z.array(item), next: z.string().optional() });

/** The answer of a list that was read with this limit. A full page has a `next`, so the one after it may be empty. */
export function pageOf<Item>(items: Item[], limit: number, cursorOf: (last: Item) => string) {
  const last = items.length === limit ? items.at(-1) : undefined;
  return { items, ...(last !== undefined && { next: cursorOf(last) }) };
}

/** The cursor that names an item; `at` is its time, ISO 8601 in UTC. CAUTION: clients hold cursors across a deploy, so `pageStartOf` must keep reading this form. */
export const cursorAt = (at: string, id: string): string => `${at}~${id}`;

/** What a cursor says; without one undefined, the head of the list. Throws InvalidMessageError(`invalid-request`) for a cursor that no list gave. */
export function pageStartOf(
  cursor: string | undefined,
  { member = 'after', expected = '`next` of the page before' }: CursorOrigin = {},
): PageStart | undefined {
  if (cursor === undefined) return undefined;
  const [at = '', id = ''] = cursor.split('~');
  if (id !== '' && z.iso.datetime().safeParse(at).success) return { at: new Date(at), id };
  throw new InvalidMessageError('invalid-request', `the cursor \`${cursor}\` is none that this list gave`, {
    details: { where: `query \`${member}\``, seen: cursor, expected },
  });
}
