import type { z } from 'zod';
import type { ServiceName, Topic } from '../topics.js';
import * as call from './call-events.js';
import * as run from './run-events.js';

interface EventEntry {
  readonly topic: Topic;
  readonly consumers: readonly ServiceName[];
  readonly schema: z.ZodType;
}

const entry = <S extends z.ZodType>(topic: Topic, schema: S, consumers: readonly ServiceName[]) => ({
  topic,
  schema,
  consumers,
});

/** Every event and command (events-and-states.md section 1). The trace store consumes all but `audit` besides those named here. */
export const EVENTS = {
  'task.submit': entry('tasks', run.taskSubmit, ['orchestrator']),
  'task.refused': entry('runs', run.taskRefused, []),
  'run.started': entry('runs', run.runStarted, ['tool-registry', 'memory-store']),
  'toolset.resolved': entry('tools', call.toolsetResolved, ['orchestrator']),
  'memory.recalled': entry('memory', call.memoryRecalled, ['orchestrator']),
  'model-call.completed': entry('runs', run.modelCallCompleted, []),
  'context.cleared': entry('runs', run.contextCleared, []),
  'tool-call.proposed': entry('runs', run.toolCallProposed, ['policy-engine']),
  'tool-call.refused': entry('runs', run.toolCallRefused, []),
  'tool-call.denied': entry('policy', call.toolCallDenied, ['orchestrator']),
  'tool-call.referred': entry('policy', call.toolCallReferred, ['approval-service', 'orchestrator']),
  'tool-call.authorized': entry('policy', call.toolCallAuthorized, ['tool-registry', 'orchestrator']),
  'approval.requested': entry('approvals', call.approvalRequested, []),
  'approval.granted': entry('approvals', call.approvalGranted, ['policy-engine', 'orchestrator']),
  'approval.denied': entry('approvals', call.approvalClosed, ['orchestrator']),
  'approval.expired': entry('approvals', call.approvalClosed, ['orchestrator']),
  'approval.withdrawn': entry('approvals', call.approvalClosed, ['orchestrator']),
  'tool-call.completed': entry('tools', call.toolCallCompleted, ['orchestrator']),
  'tool-call.resolved': entry('tools', call.toolCallResolved, ['orchestrator']),
  'run.stop-started': entry('runs', run.runStopStarted, ['tool-registry', 'approval-service']),
  'run.fenced': entry('tools', call.runFenced, ['orchestrator']),
  'run.finished': entry('runs', run.runFinished, []),
  'tool.updated': entry('catalog', call.toolUpdated, ['policy-engine']),
  'policy-set.activated': entry('policies', call.policySetActivated, ['tool-registry']),
  'audit.recorded': entry('audit', call.auditRecorded, []),
} as const satisfies Record<string, EventEntry>;

export type EventName = keyof typeof EVENTS;
export type EventData<N extends EventName> = z.infer<(typeof EVENTS)[N]['schema']>;

/** Wire type of an event. CAUTION: a breaking change of the data is a new `.v2` type. */
export const eventType = (name: EventName): string => `lineclear.${name}.v1`;

const NAME_OF_TYPE = new Map((Object.keys(EVENTS) as EventName[]).map((name) => [eventType(name), name]));

/** Name of a wire type, or undefined for one that this version does not know (it is then held, never dropped). */
export const eventNameOf = (type: string): EventName | undefined => NAME_OF_TYPE.get(type);

/** Topics that a service reads, in the order of TOPICS. */
export function topicsReadBy(service: ServiceName): Topic[] {
  if (service === 'trace-store') return ['runs', 'tools', 'policy', 'approvals', 'memory', 'catalog', 'policies'];
  const topics = new Set<Topic>();
  for (const { topic, consumers } of Object.values(EVENTS) as EventEntry[])
    if (consumers.includes(service)) topics.add(topic);
  return [...topics];
}
