import type { ToolResult } from '@lineclear/contracts';
import type { ResolvedOutcome } from '../domain/resolve.js';

/** Names in mailbox, jobs and timers, keyed by run. CAUTION: persisted. */
export const RESOLVE_CALL = 'call.resolve';
export const TOOL_CALL_JOB = 'tool-call';
export const TOOLSET_TIMER = 'toolset';
export const QUIET_TIMER = 'effect-quiet';

export interface ResolveCall {
  readonly callId: string;
  readonly outcome: ResolvedOutcome;
  readonly result?: ToolResult;
  readonly reason: string;
}

/** What an executor needs; the ledger keeps no arguments. */
export interface ToolCallJob {
  readonly callId: string;
  readonly runId: string;
  readonly tenant: string;
  readonly tool: string;
  readonly server: string;
  readonly originalName: string;
  readonly definitionHash: string;
  readonly arguments: Readonly<Record<string, unknown>>;
  /** argument that carries the key too */
  readonly keyArgument: string | null;
  readonly key: string;
  readonly authorizationId: string;
  /** for the tool alone, without the time that its server may need to come back */
  readonly toolTimeoutMs: number;
}

export interface PendingToolset {
  readonly globs: readonly string[];
  readonly tenant: string;
  /** answered then with what is known, milliseconds since 1970 */
  readonly untilMs: number;
}
