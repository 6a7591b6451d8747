import type { ApprovalDecision, ApprovalView } from '@lineclear/client';

/** Somebody who is asked about pending approvals. */
export interface Approver {
  /** Called with what is pending now, again and again; resolves with the answers given meanwhile. Never blocks the runs. */
  answers(pending: readonly ApprovalView[]): Promise<ReadonlyMap<string, ApprovalDecision>>;
  /** The answer was not taken: expired, decided by somebody else, or not valid. */
  refused?(approvalId: string, error: unknown): void;
  close(): void;
}

/** Nobody: approvals stay pending. */
export const nobody: Approver = { answers: () => Promise.resolve(new Map()), close: () => undefined };
