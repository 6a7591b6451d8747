import type { Topic } from '@lineclear/contracts';

/** `retrying` and `parked` are states of the first of a key; those behind it are `waiting`. */
export type HeldState = 'retrying' | 'parked' | 'waiting';

/** What the owner knows of a held message without reading it. Times in milliseconds on the database's clock. */
export interface HeldRef {
  readonly key: string;
  readonly n: number;
  readonly heldId: string;
  readonly source: string;
  readonly id: string;
  readonly type: string;
  readonly state: HeldState;
  readonly attempts: number;
  readonly dueAt: number | null;
  /** code of the failure that holds it */
  readonly code: string | null;
}

/** The whole message. */
export interface HeldRow extends HeldRef {
  readonly shard: number;
  readonly topic: Topic;
  readonly partition: number;
  readonly offset: bigint;
  /** JSON text */
  readonly headers: string;
  readonly data: string | null;
  /** JSON text of a Failure */
  readonly failure: string | null;
  readonly heldAt: number;
}

/** The row as the lane's statement writes it. */
export function heldTableRow(row: HeldRow) {
  return {
    key: row.key,
    n: row.n,
    shard: row.shard,
    held_id: row.heldId,
    source: row.source,
    id: row.id,
    topic: row.topic,
    partition: row.partition,
    offset: String(row.offset),
    type: row.type,
    headers: row.headers,
    data: row.data,
    state: row.state,
    attempts: row.attempts,
    due_at: row.dueAt === null ? null : new Date(row.dueAt),
    code: row.code,
    failure: row.failure,
    held_at: new Date(row.heldAt),
  };
}
