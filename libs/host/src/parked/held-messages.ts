import type { ServiceName } from '@lineclear/contracts';
import type { Failure } from '@lineclear/errors';
import type { DataSource } from 'typeorm';

/** A message that a service set aside with its key. */
export interface ParkedView {
  /** `<service>.<id>`: unique on a whole platform */
  readonly id: string;
  readonly service: ServiceName;
  readonly key: string;
  readonly type: string;
  /** `retrying`, `parked`, or `waiting` behind an earlier one of its key */
  readonly state: string;
  readonly attempts: number;
  readonly error: string;
  readonly since: string;
  readonly dueAt: string | null;
}

export interface ParkedMessage extends ParkedView {
  readonly failure: Failure | null;
  readonly headers: Readonly<Record<string, string>>;
  /** JSON text as it came; null: a tombstone */
  readonly data: string | null;
}

interface Row {
  readonly held_id: string;
  readonly key: string;
  readonly type: string;
  readonly state: string;
  readonly attempts: number;
  readonly failure: string | null;
  readonly held_at: Date;
  readonly due_at: Date | null;
  readonly headers: string;
  readonly data: string | null;
  readonly tenant: string | null;
}

const MAX_LISTED = 500;

/** A header with U+0000 cannot be read by PostgreSQL's JSON operators; one such message must not hide all others. */
const TENANT = String.raw`CASE WHEN headers LIKE '%\\u0000%' THEN NULL ELSE headers::json ->> 'ce_tenant' END`;
const COLUMNS = `held_id, key, type, state, attempts, failure, held_at, due_at, headers, data, ${TENANT} AS tenant`;

/**
 * Reads what a service holds. INVARIANT: a tenant sees its own messages; those whose headers name no tenant show up for every operator, since
 * somebody must see them, but their content does not.
 */
export class HeldMessages {
  constructor(
    private readonly service: ServiceName,
    private readonly dataSource: DataSource,
  ) {}

  async list(tenant: string): Promise<ParkedView[]> {
    const rows: Row[] = await this.dataSource.query(
      `SELECT * FROM (SELECT ${COLUMNS}, n FROM held) AS h WHERE tenant = $1 OR tenant IS NULL
       ORDER BY held_at, key, n LIMIT ${MAX_LISTED}`,
      [tenant],
    );
    return rows.map((row) => this.#view(row));
  }

  /** undefined: not here, or not of this tenant */
  async find(tenant: string, id: string): Promise<ParkedMessage | undefined> {
    if (!id.startsWith(`${this.service}.`)) return undefined;
    const [row]: Row[] = await this.dataSource.query(
      `SELECT * FROM (SELECT ${COLUMNS} FROM held) AS h WHERE held_id = $1 AND (tenant = $2 OR tenant IS NULL)`,
      [id.slice(this.service.length + 1), tenant],
    );
    if (row === undefined) return undefined;
    const failure = row.failure === null ? null : (JSON.parse(row.failure) as Failure);
    const isOwn = row.tenant === tenant;
    return {
      ...this.#view(row),
      failure,
      headers: isOwn ? (JSON.parse(row.headers) as Record<string, string>) : {},
      data: isOwn ? row.data : null,
    };
  }

  #view({ held_id, key, type, state, attempts, failure, held_at, due_at }: Row): ParkedView {
    return {
      id: `${this.service}.${held_id}`,
      service: this.service,
      key,
      type,
      state,
      attempts,
      error: failure === null ? '' : (JSON.parse(failure) as Failure).message,
      since: held_at.toISOString(),
      dueAt: due_at?.toISOString() ?? null,
    };
  }
}

/** Id of the message inside its service. */
export const heldIdOf = (id: string): string => id.slice(id.indexOf('.') + 1);
