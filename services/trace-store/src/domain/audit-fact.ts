import type { EventData, EventName } from '@lineclear/contracts';

/** Flat, so that its canonical text is a sort of its keys. */
export type AuditFact = Readonly<Record<string, string | number | boolean | readonly string[]>>;
type FactOf = { readonly [N in EventName]?: (data: EventData<N>) => AuditFact };

const verdict = (
  kind: string,
  data: { callId: string; decisionId: string; tool: string; rules: string[]; policyVersion?: number },
) => ({
  verdict: kind,
  callId: data.callId,
  decisionId: data.decisionId,
  tool: data.tool,
  rules: data.rules,
  ...(data.policyVersion !== undefined && { policyVersion: data.policyVersion }),
});

const approval = (
  status: string,
  data: { callId: string; approvalId: string; by?: string | undefined; reason?: string | undefined },
) => ({
  approval: status,
  approvalId: data.approvalId,
  callId: data.callId,
  ...(data.by !== undefined && { by: data.by }),
  ...(data.reason !== undefined && { reason: data.reason }),
});

/** What an auditor asks about: who asked, who allowed, what was done. Small: the event itself is in the archive, and its hash in the record. */
const FACTS: FactOf = {
  'task.refused': ({ taskId, taskSource, reason, payloadHash }) => ({ taskId, taskSource, reason, payloadHash }),
  'run.started': ({ taskId, taskSource, payloadHash, definition, principal }) => ({
    taskId,
    taskSource,
    payloadHash,
    agent: `${definition.agent}@${definition.version}`,
    subject: principal.subject,
    roles: principal.roles,
  }),
  'run.stop-started': ({ n, target, reason, by }) => ({ n, target, reason, by }),
  'run.finished': ({ state, reason, totals }) => ({
    state,
    reason,
    steps: totals.steps,
    costMicros: totals.costMicros,
    effects: totals.effects,
    unknown: totals.unknown,
  }),
  'tool-call.denied': (data) => ({ ...verdict('denied', data), reason: data.reason }),
  'tool-call.referred': (data) => ({ ...verdict('referred', data), digest: data.digest }),
  'tool-call.authorized': (data) => ({
    ...verdict('authorized', data),
    jti: data.claims.jti,
    digest: data.claims.digest,
    policyVersion: data.claims.policyVersion,
    edited: data.edited,
    ...(data.approvalId !== undefined && { approvalId: data.approvalId }),
  }),
  'approval.requested': (data) => ({ ...approval('requested', data), digest: data.digest }),
  'approval.granted': (data) => ({ ...approval('granted', data), digest: data.digest }),
  'approval.denied': (data) => approval('denied', data),
  'approval.expired': (data) => approval('expired', data),
  'approval.withdrawn': (data) => approval('withdrawn', data),
  'tool-call.completed': ({ callId, tool, status, reason, jti, deduplicated }) => ({
    callId,
    tool,
    status,
    deduplicated,
    ...(reason !== undefined && { reason }),
    ...(jti !== undefined && { jti }),
  }),
  'tool-call.resolved': ({ callId, outcome, by, reason }) => ({ callId, outcome, by, reason }),
  'tool.updated': ({ server, name, definitionHash, status, reason }) => ({
    tool: `${server}.${name}`,
    definitionHash,
    status,
    ...(reason !== undefined && { reason }),
  }),
  'policy-set.activated': ({ set, version, notBeforeVersion, hash }) => ({ set, version, notBeforeVersion, hash }),
};

/** The fact that an event adds to its tenant's audit, undefined for events that add none and for types that this version does not know. */
export function auditFactOf<N extends EventName>(name: N, data: EventData<N>): AuditFact | undefined {
  return Object.hasOwn(FACTS, name) ? FACTS[name]?.(data) : undefined;
}
