/** CAUTION: rows of the mailbox and of timers carry these names across restarts. */
export const DECIDE = 'decide-approval';
/** One timer per run, at the earliest expiry of its pending requests. */
export const EXPIRY = 'approval-expiry';

/** Payload of DECIDE: `decision` is the body as it came, judged by the domain. */
export interface DecidePayload {
  readonly approvalId: string;
  readonly decision: unknown;
}
