import type { Permit } from '../domain/effect.js';
import type { Gate } from '../domain/gate.js';
import { READ_RESULT_OBSERVATION } from '../domain/read-result.js';
import { observeTool, type Tool, type ToolObservation } from '../domain/tool.js';

export const RUN = `run_${'0'.repeat(24)}`;
export const CALL = `${RUN}-1-0`;
export const NOW_MS = Date.UTC(2026, 10, 30);

export function permit(change: Partial<Permit> = {}): Permit {
  return {
    tenant: 'acme',
    callId: CALL,
    turn: 1,
    index: 0,
    round: 1,
    stage: 'first',
    tool: 'erp.post',
    definitionHash: tool().pinned?.hash ?? '',
    digest: 'digest-1',
    payloadHash: 'payload-1',
    businessKey: null,
    jti: 'aut_1',
    policyVersion: 3,
    expiresAtMs: NOW_MS + 60_000,
    isGranted: false,
    ...change,
  };
}

/** An available tool that writes and honours the key. */
export function tool(traits: Partial<ToolObservation['traits']> = {}, change: Partial<Tool> = {}): Tool {
  const defaults = {
    write: true,
    repeatable: false,
    leavesSystem: false,
    key: 'honoured',
    timeoutMs: 5_000,
    unknownWaitMs: 0,
  } as const;
  const observation = {
    ...READ_RESULT_OBSERVATION,
    server: 'erp',
    originalName: 'post',
    traits: { ...defaults, ...traits },
  };
  return { ...observeTool(undefined, 'erp.post', observation), ...change };
}

export function gate(change: Partial<Gate> = {}): Gate {
  return { nowMs: NOW_MS, isStopped: false, notBeforeVersion: 0, tool: tool(), ...change };
}
