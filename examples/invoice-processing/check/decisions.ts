import type { DecisionView, LineclearClient } from '@lineclear/client';

/** Every decision of the tenant, page by page. */
export async function allDecisions(client: LineclearClient): Promise<DecisionView[]> {
  const all: DecisionView[] = [];
  for (let after: string | undefined; ; ) {
    const page = await client.decisions(after === undefined ? {} : { after });
    all.push(...page.items);
    if (page.next === undefined) return all;
    after = page.next;
  }
}
