/** A row of `job`. Times in milliseconds since the epoch, on the database's clock. */
export interface JobRow {
  readonly id: string;
  readonly shard: number;
  readonly kind: string;
  readonly key: string;
  readonly tenant: string;
  readonly attempt: number;
  /** JSON text */
  readonly payload: string;
  readonly traceparent: string | null;
  readonly state: 'queued' | 'dispatched';
  readonly owner: string | null;
  readonly dispatchBy: number | null;
  readonly dispatchByMs: number;
  readonly timeoutMs: number;
  readonly lost: 'at-once' | 'quiet';
}

/** The row as the lane's statement writes it. */
export function jobTableRow(row: JobRow) {
  const { dispatchBy, dispatchByMs, timeoutMs, ...rest } = row;
  return {
    ...rest,
    dispatch_by: dispatchBy === null ? null : new Date(dispatchBy),
    dispatch_by_ms: dispatchByMs,
    timeout_ms: timeoutMs,
  };
}
