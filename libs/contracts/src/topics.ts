/** The services that own state. CAUTION: consumer groups, schemas and roles are named after them. */
export const SERVICES = [
  'orchestrator',
  'tool-registry',
  'policy-engine',
  'approval-service',
  'memory-store',
  'trace-store',
] as const;

export type ServiceName = (typeof SERVICES)[number];

/** Short names of the topics; the wire name is `lineclear.<name>.v1`. */
export const TOPICS = [
  'tasks',
  'runs',
  'tools',
  'policy',
  'approvals',
  'memory',
  'catalog',
  'policies',
  'audit',
] as const;

export type Topic = (typeof TOPICS)[number];

/** Wire name of a topic. CAUTION: persisted in brokers and positions. */
export const topicName = (topic: Topic): string => `lineclear.${topic}.v1`;

/** Topic of a wire name, or undefined for a foreign one. */
export function topicOf(wireName: string): Topic | undefined {
  return TOPICS.find((topic) => topicName(topic) === wireName);
}

/** The one service that writes a topic (`tasks` is written by clients). */
export const TOPIC_PRODUCER: Readonly<Record<Exclude<Topic, 'tasks'>, ServiceName>> = {
  runs: 'orchestrator',
  tools: 'tool-registry',
  catalog: 'tool-registry',
  policy: 'policy-engine',
  policies: 'policy-engine',
  approvals: 'approval-service',
  memory: 'memory-store',
  audit: 'trace-store',
};
