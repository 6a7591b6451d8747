import type { Permit } from './effect.js';
import { type Tool, toolStatus } from './tool.js';

/** What the clocks of the policy engine and this database may differ by. It never extends a person's grant. */
export const EXPIRY_SKEW_MS = 5_000;

/** What stands between a verified permit and its tool, as of one batch. */
export interface Gate {
  readonly nowMs: number;
  readonly isStopped: boolean;
  readonly notBeforeVersion: number;
  readonly tool: Tool | undefined;
}

/** Stable words in tool-call.completed. CAUTION: the orchestrator proposes anew on the first two, and only on them. */
export type Refusal =
  | 'authorization-expired'
  | 'policy-outdated'
  | 'run-stopped'
  | 'unknown-tool'
  | 'tool-disabled'
  | 'definition-changed'
  | 'tool-unavailable';

/** Why a permit may not act now. Asked when the intent is committed, and again when a call that waited for a slot is dispatched. */
export function refusalOf(permit: Permit, gate: Gate): Refusal | undefined {
  if (gate.isStopped) return 'run-stopped';
  if (gate.nowMs >= permit.expiresAtMs + (permit.isGranted ? 0 : EXPIRY_SKEW_MS)) return 'authorization-expired';
  if (permit.policyVersion < gate.notBeforeVersion) return 'policy-outdated';
  return toolRefusal(permit, gate.tool);
}

function toolRefusal(permit: Permit, tool: Tool | undefined): Refusal | undefined {
  if (tool === undefined) return 'unknown-tool';
  const { status } = toolStatus(tool);
  if (status === 'disabled') return 'tool-disabled';
  if (status === 'quarantined' || (tool.pinned !== null && tool.pinned.hash !== permit.definitionHash))
    return 'definition-changed';
  return status === 'available' ? undefined : 'tool-unavailable';
}
