/** A row of the mailbox as the owner takes it. `emit` and `job-result` are the lane's own: an event, or a job's result, for a shard of another replica. */
export interface MailboxRow {
  readonly id: string;
  readonly shard: number;
  readonly kind: 'command' | 'job-result' | 'emit';
  readonly name: string;
  readonly key: string;
  readonly tenant: string;
  /** JSON text */
  readonly payload: string;
  /** JSON text of a principal */
  readonly by: string | null;
  readonly traceparent: string | null;
}
