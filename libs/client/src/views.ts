import type { BudgetState, EventData, Label } from '@lineclear/contracts';

/** A list page. `next` is the cursor of the following page, absent on the last one. */
export interface Page<T> {
  readonly items: readonly T[];
  readonly next?: string;
}

export interface CallView {
  readonly callId: string;
  readonly tool: string;
  readonly arguments: unknown;
  readonly verdict: string | null;
  readonly rules: readonly string[];
  readonly status: string;
}

/** One line of `runs list`. */
export interface RunSummary {
  readonly runId: string;
  readonly taskId: string;
  readonly agent: string;
  readonly state: string;
  readonly reason: string | null;
  /** a message of the run was set aside and waits for an operator */
  readonly parked: boolean;
  readonly turn: number;
  readonly startedAt: string;
  readonly finishedAt: string | null;
}

export interface RunView extends RunSummary {
  /** the calls of the present turn */
  readonly calls: readonly CallView[];
  readonly budget: BudgetState;
  /** so far, or at the end */
  readonly totals: EventData<'run.finished'>['totals'];
  readonly answer?: string;
  readonly findings?: string;
}

export interface ApprovalView {
  readonly approvalId: string;
  readonly runId: string;
  readonly callId: string;
  readonly tool: string;
  readonly arguments: Readonly<Record<string, unknown>>;
  readonly digest: string;
  readonly why: string;
  readonly rules: readonly string[];
  readonly label: Label;
  readonly requester: string;
  readonly approvers: readonly string[];
  readonly expiresAt: string;
  readonly status: string;
  readonly decidedBy: string | null;
}

export interface ToolListing {
  readonly name: string;
  readonly server: string;
  readonly originalName: string;
  readonly definitionHash: string;
  readonly status: string;
  readonly reason: string | null;
}

export interface UnknownCall {
  readonly callId: string;
  readonly tool: string;
  readonly key: string;
  readonly since: string;
}

export interface DecisionView {
  readonly decisionId: string;
  readonly runId: string;
  readonly callId: string;
  readonly tool: string;
  readonly verdict: string;
  readonly rules: readonly string[];
  readonly reason: string;
  readonly digest: string;
  readonly jti: string | null;
  readonly policyVersion: number;
  readonly at: string;
}

export interface PolicyCheck {
  readonly verdict: string;
  readonly rules: readonly string[];
  readonly errors: readonly string[];
}

export interface ReplayVerdict {
  readonly identical: boolean;
  readonly events: number;
  readonly firstDifference: unknown;
}

export interface AuditVerdict {
  readonly whole: boolean;
  readonly records: number;
  readonly firstBroken: number | null;
}

export interface AuditView {
  readonly seq: number;
  readonly prevHash: string;
  readonly hash: string;
  readonly subject: string;
  readonly fact: Readonly<Record<string, unknown>>;
}

export interface ParkedView {
  readonly id: string;
  readonly service: string;
  readonly key: string;
  readonly type: string;
  readonly state: string;
  readonly attempts: number;
  readonly error: string;
  readonly since: string;
}
