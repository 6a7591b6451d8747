import type { EventData, Label, Stage } from '@lineclear/contracts';

/** CAUTION: stored and shown. */
export const APPROVAL_STATUSES = ['pending', 'granted', 'denied', 'expired', 'withdrawn'] as const;
export type ApprovalStatus = (typeof APPROVAL_STATUSES)[number];

/** Why a call is asked about, exactly what would run, and what became of the question. */
export interface Approval {
  readonly approvalId: string;
  readonly tenant: string;
  readonly runId: string;
  readonly callId: string;
  readonly turn: number;
  readonly index: number;
  readonly round: number;
  readonly stage: Stage;
  readonly decisionId: string;
  readonly tool: string;
  readonly arguments: Readonly<Record<string, unknown>>;
  readonly schema: Readonly<Record<string, unknown>>;
  readonly definitionHash: string;
  readonly digest: string;
  readonly rules: readonly string[];
  readonly why: string;
  readonly label: Label;
  readonly requester: string;
  readonly approvers: readonly string[];
  readonly fourEyes: boolean;
  readonly expiresAt: Date;
  readonly validForMs: number;
  readonly requestedAt: Date;
  readonly status: ApprovalStatus;
  readonly closing: Closing | null;
}

/** The one thing that ended a request. */
export interface Closing {
  readonly action: 'approve' | 'edit' | 'deny' | 'expire' | 'withdraw';
  /** subject of the person; null: the platform */
  readonly by: string | null;
  readonly at: Date;
  readonly reason: string;
  /** of an edit: what will run instead */
  readonly arguments: Readonly<Record<string, unknown>> | null;
  /** of a grant: digest of the call as approved */
  readonly digest: string | null;
  readonly validUntil: Date | null;
}

/** All requests of one run, and whether it is stopping. */
export interface RunApprovals {
  readonly stopped: boolean;
  readonly byId: ReadonlyMap<string, Approval>;
}

export const NO_APPROVALS: RunApprovals = { stopped: false, byId: new Map() };

/** A pending request for a referred call. `at`: the database's time. */
export function requested(
  referred: EventData<'tool-call.referred'>,
  ids: Pick<Approval, 'approvalId' | 'tenant' | 'runId'>,
  at: Date,
): Approval {
  return {
    ...ids,
    ...referred,
    expiresAt: new Date(referred.expiresAt),
    requestedAt: at,
    status: 'pending',
    closing: null,
  };
}

export function withApproval(state: RunApprovals, approval: Approval): RunApprovals {
  return { ...state, byId: new Map(state.byId).set(approval.approvalId, approval) };
}
