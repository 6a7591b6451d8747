import { describe, expect, it } from 'vitest';
import { eventJsonSchemas } from '../json-schema.js';
import { SERVICES, TOPIC_PRODUCER, topicName, topicOf, TOPICS } from '../topics.js';
import { COMPLETION_STATUSES } from './call-events.js';
import { type EventName, eventNameOf, EVENTS, eventType, topicsReadBy } from './catalogue.js';
import { TERMINAL_STATES } from './run-events.js';

const names = Object.keys(EVENTS) as EventName[];

describe('wire names', () => {
  it('are pinned: events with their topics', () => {
    expect(names.map((name) => `${eventType(name)} on ${topicName(EVENTS[name].topic)}`)).toMatchInlineSnapshot(`
      [
        "lineclear.task.submit.v1 on lineclear.tasks.v1",
        "lineclear.task.refused.v1 on lineclear.runs.v1",
        "lineclear.run.started.v1 on lineclear.runs.v1",
        "lineclear.toolset.resolved.v1 on lineclear.tools.v1",
        "lineclear.memory.recalled.v1 on lineclear.memory.v1",
        "lineclear.model-call.completed.v1 on lineclear.runs.v1",
        "lineclear.context.cleared.v1 on lineclear.runs.v1",
        "lineclear.tool-call.proposed.v1 on lineclear.runs.v1",
        "lineclear.tool-call.refused.v1 on lineclear.runs.v1",
        "lineclear.tool-call.denied.v1 on lineclear.policy.v1",
        "lineclear.tool-call.referred.v1 on lineclear.policy.v1",
        "lineclear.tool-call.authorized.v1 on lineclear.policy.v1",
        "lineclear.approval.requested.v1 on lineclear.approvals.v1",
        "lineclear.approval.granted.v1 on lineclear.approvals.v1",
        "lineclear.approval.denied.v1 on lineclear.approvals.v1",
        "lineclear.approval.expired.v1 on lineclear.approvals.v1",
        "lineclear.approval.withdrawn.v1 on lineclear.approvals.v1",
        "lineclear.tool-call.completed.v1 on lineclear.tools.v1",
        "lineclear.tool-call.resolved.v1 on lineclear.tools.v1",
        "lineclear.run.stop-started.v1 on lineclear.runs.v1",
        "lineclear.run.fenced.v1 on lineclear.tools.v1",
        "lineclear.run.finished.v1 on lineclear.runs.v1",
        "lineclear.tool.updated.v1 on lineclear.catalog.v1",
        "lineclear.policy-set.activated.v1 on lineclear.policies.v1",
        "lineclear.audit.recorded.v1 on lineclear.audit.v1",
      ]
    `);
  });

  it('are pinned: services, topics, terminal states and completion statuses', () => {
    expect({ SERVICES, TOPICS, TERMINAL_STATES, COMPLETION_STATUSES }).toMatchInlineSnapshot(`
      {
        "COMPLETION_STATUSES": [
          "succeeded",
          "failed",
          "unknown",
          "not-dispatched",
        ],
        "SERVICES": [
          "orchestrator",
          "tool-registry",
          "policy-engine",
          "approval-service",
          "memory-store",
          "trace-store",
        ],
        "TERMINAL_STATES": [
          "answered",
          "budget_stop",
          "failed",
          "cancelled",
        ],
        "TOPICS": [
          "tasks",
          "runs",
          "tools",
          "policy",
          "approvals",
          "memory",
          "catalog",
          "policies",
          "audit",
        ],
      }
    `);
  });

  it('are found again from the wire', () => {
    expect(names.map((name) => eventNameOf(eventType(name)))).toEqual(names);
    expect(TOPICS.map((topic) => topicOf(topicName(topic)))).toEqual([...TOPICS]);
    expect(eventNameOf('lineclear.run.started.v2')).toBeUndefined();
  });
});

describe('the catalogue', () => {
  it('has one producer for every topic but tasks', () => {
    expect(Object.keys(TOPIC_PRODUCER).sort()).toEqual(TOPICS.filter((topic) => topic !== 'tasks').sort());
  });

  it('gives each service the topics it reads, the trace store all but tasks and audit', () => {
    expect(Object.fromEntries(SERVICES.map((service) => [service, topicsReadBy(service)]))).toMatchInlineSnapshot(`
      {
        "approval-service": [
          "policy",
          "runs",
        ],
        "memory-store": [
          "runs",
        ],
        "orchestrator": [
          "tasks",
          "tools",
          "memory",
          "policy",
          "approvals",
        ],
        "policy-engine": [
          "runs",
          "approvals",
          "catalog",
        ],
        "tool-registry": [
          "runs",
          "policy",
          "policies",
        ],
        "trace-store": [
          "runs",
          "tools",
          "policy",
          "approvals",
          "memory",
          "catalog",
          "policies",
        ],
      }
    `);
  });

  it('generates a JSON Schema for every event, as committed', async () => {
    await expect(`${JSON.stringify(eventJsonSchemas(), null, 2)}\n`).toMatchFileSnapshot(
      '../../generated/events.schema.json',
    );
  });

  it('takes run events of a newer version with more fields and keeps refusing an unknown field of a task', () => {
    const stop = { inputs: [], n: 1, target: 'cancelled', reason: 'r', by: 'b', later: true };
    expect(EVENTS['run.stop-started'].schema.safeParse(stop).success).toBe(true);
    expect(EVENTS['task.submit'].schema.safeParse({ agent: 'a', input: {}, inptu: 1 }).success).toBe(false);
  });
});
