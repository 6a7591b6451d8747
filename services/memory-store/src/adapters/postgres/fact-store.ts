import { Inject, Injectable } from '@nestjs/common';
import { DATA_SOURCE, type PageStart } from '@lineclear/host';
import { DataSource, type EntityManager } from 'typeorm';
import type { Fact, Owner } from '../../domain/fact.js';
import { factIdOf, type NewFact, remember } from '../../domain/remember.js';
import { FACT_COLUMNS, factOf, type FactRow } from './fact-row.js';

export interface FactPage extends Owner {
  readonly limit: number;
  readonly includeSuperseded: boolean;
  /** only facts before this one in the order of the list */
  readonly before?: PageStart | undefined;
}

/** Facts outside the lane: what people read, and what tools write. */
@Injectable()
export class FactStore {
  constructor(@Inject(DATA_SOURCE) private readonly dataSource: DataSource) {}

  /** Newest first. */
  async list({ tenant, subject, limit, includeSuperseded, before }: FactPage): Promise<Fact[]> {
    const rows: FactRow[] = await this.dataSource.query(
      `SELECT ${FACT_COLUMNS} FROM fact
       WHERE tenant = $1 AND subject = $2 AND ($3 OR superseded_by IS NULL)
         AND ($4::timestamptz IS NULL OR (event_time, id) < ($4, $5::text))
       ORDER BY event_time DESC, id DESC LIMIT $6`,
      [tenant, subject, includeSuperseded, before?.at ?? null, before?.id ?? null, limit],
    );
    return rows.map(factOf);
  }

  /** Takes facts in, each by the rules of `remember`; arrivals on one topic are serialised. */
  async remember(arrivals: readonly NewFact[]): Promise<void> {
    for (const arrived of arrivals)
      await this.dataSource.transaction(async (manager) => {
        await put(manager, remember(await onTopic(manager, arrived), arrived));
      });
  }
}

async function onTopic(manager: EntityManager, { tenant, subject, topic, text }: NewFact): Promise<Fact[]> {
  const id = factIdOf({ tenant, subject }, topic, text);
  await manager.query('SELECT pg_advisory_xact_lock(hashtextextended($1, 0))', [
    JSON.stringify([tenant, subject, topic ?? id]),
  ]);
  const rows: FactRow[] = await manager.query(
    `SELECT ${FACT_COLUMNS} FROM fact
     WHERE tenant = $1 AND subject = $2 AND CASE WHEN $3::text IS NULL THEN id = $4 ELSE topic = $3 END`,
    [tenant, subject, topic, id],
  );
  return rows.map(factOf);
}

async function put(manager: EntityManager, facts: readonly Fact[]): Promise<void> {
  for (const fact of facts)
    await manager.query(
      `INSERT INTO fact (${FACT_COLUMNS}) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
       ON CONFLICT (tenant, subject, id) DO UPDATE SET kind = excluded.kind, source = excluded.source,
         event_time = excluded.event_time, stated = excluded.stated, confidentiality = excluded.confidentiality,
         integrity = excluded.integrity, superseded_by = excluded.superseded_by`,
      [
        fact.tenant,
        fact.subject,
        fact.id,
        fact.topic,
        fact.kind,
        fact.text,
        fact.source,
        fact.eventTime,
        fact.stated,
        fact.label.confidentiality,
        fact.label.integrity,
        fact.supersededBy,
      ],
    );
}
