import { Inject, Injectable } from '@nestjs/common';
import { NotFoundError } from '@lineclear/errors';
import { DATA_SOURCE } from '@lineclear/host';
import { DataSource } from 'typeorm';
import { type ArchivedEvent, logOf } from '../../domain/archived-event.js';
import { arrivalAt } from '../../domain/arrival-clock.js';
import { causalOrder } from '../../domain/causal-order.js';
import { archivedOf, type EventRow } from './event-table.js';

export interface TailOptions {
  readonly tenant: string;
  /** arrival of the last event seen */
  readonly after: number;
  readonly subject?: string | undefined;
  readonly limit: number;
}

/** Reads of the archive. INVARIANT: every one names the tenant. */
@Injectable()
export class Archive {
  constructor(@Inject(DATA_SOURCE) private readonly dataSource: DataSource) {}

  /** All events of a run in causal order. Throws NotFoundError when there are none for this tenant. */
  async run(tenant: string, runId: string): Promise<ArchivedEvent[]> {
    const rows: EventRow[] = await this.dataSource.query(
      'SELECT * FROM event WHERE subject = $1 AND tenant = $2 ORDER BY arrival',
      [runId, tenant],
    );
    if (rows.length === 0) throw new NotFoundError(`run \`${runId}\` does not exist, or has no event yet`);
    return causalOrder(rows.map(archivedOf), logOf);
  }

  /** Events of a tenant in the order of their arrival. */
  async tail({ tenant, after, subject, limit }: TailOptions): Promise<ArchivedEvent[]> {
    const rows: EventRow[] = await this.dataSource.query(
      `SELECT * FROM event WHERE arrival > $1 AND tenant = $2 AND ($3::text IS NULL OR subject = $3)
       ORDER BY arrival LIMIT $4`,
      [after, tenant, subject ?? null, limit],
    );
    return rows.map(archivedOf);
  }

  /** The position of this moment: events that arrive from now on come after it. */
  async now(): Promise<number> {
    const [row]: { now: Date }[] = await this.dataSource.query('SELECT clock_timestamp() AS now');
    return arrivalAt(row?.now ?? new Date());
  }
}
