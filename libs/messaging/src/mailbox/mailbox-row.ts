/**
 * A row of the mailbox as the owner takes it. Somebody waits for the result of a `command`, nobody for that of a `message`. `emit` and `job-result` are the
 * lane's own: an event, or a job's result, for a shard of another replica. CAUTION: persisted.
 */
export interface MailboxRow {
  readonly id: string;
  readonly shard: number;
  readonly kind: 'command' | 'message' | 'job-result' | 'emit';
  readonly name: string;
  readonly key: string;
  readonly tenant: string;
  /** JSON text */
  readonly payload: string;
  /** JSON text of a principal */
  readonly by: string | null;
  readonly traceparent: string | null;
}
