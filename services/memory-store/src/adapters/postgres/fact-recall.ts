import type { ReadHandle } from '@lineclear/messaging';
import type { Fact, Owner } from '../../domain/fact.js';
import { FACT_COLUMNS, factOf, type FactRow } from './fact-row.js';

export interface RecallRequest extends Owner {
  /** free text; its words are joined by "or" */
  readonly query: string;
  readonly limit: number;
}

const MAX_QUERY_CHARS = 4_000;

/**
 * INVARIANT: tenant and subject of each request are compared in SQL, next to the words; there is no way to ask without them. The words of the
 * query are quoted lexemes, so no text of a caller is read as an operator.
 */
const RECALL = `
  SELECT w.n, f.* FROM jsonb_to_recordset($1::jsonb) AS w(n int, tenant text, subject text, query text, "limit" int)
  CROSS JOIN LATERAL (
    SELECT string_agg(quote_literal(lexeme), ' | ')::tsquery AS query FROM unnest(to_tsvector('english', w.query))
  ) AS q
  CROSS JOIN LATERAL (
    SELECT ${FACT_COLUMNS} FROM fact
    WHERE fact.tenant = w.tenant AND fact.subject = w.subject AND superseded_by IS NULL AND words @@ q.query
    ORDER BY ts_rank(words, q.query) DESC, event_time DESC, id LIMIT w."limit"
  ) AS f`;

/**
 * Current facts that share words with each query, best match first, newest first among equals. One statement for all requests; the answer has one list
 * per request, in their order.
 */
export async function recallFacts(read: ReadHandle, requests: readonly RecallRequest[]): Promise<Fact[][]> {
  const found: Fact[][] = requests.map(() => []);
  const wanted = requests.flatMap(({ tenant, subject, query, limit }, n) =>
    limit === 0 ? [] : [{ n, tenant: clean(tenant), subject: clean(subject), query: clean(query), limit }],
  );
  if (wanted.length === 0) return found;
  const rows = await read.query<FactRow & { n: number }>(RECALL, [JSON.stringify(wanted)]);
  for (const { n, ...row } of rows) found[n]?.push(factOf(row));
  return found;
}

/** jsonb refuses U+0000 and lone surrogates; one such text must not fail the whole batch. */
const clean = (text: string): string => text.slice(0, MAX_QUERY_CHARS).replaceAll('\0', '\uFFFD').toWellFormed();
