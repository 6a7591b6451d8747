import { type AgentDefinition, EVENTS, type EventData, eventType, type Principal } from '@lineclear/contracts';
import { effectiveRoles } from '@lineclear/identity';
import type { ModelDescription } from '@lineclear/model-gateway';
import { type AcceptedTask, findLossyNumber } from '@lineclear/run';
import type { z } from 'zod';
import type { AgentCatalog } from './agent-catalog.js';
import { nearestNames } from './nearest-names.js';
import { type Refusal, shown } from './refusal.js';
import type { Submission } from './submission.js';

const TASK_TYPE = eventType('task.submit');
const TASK_SCHEMA = EVENTS['task.submit'].schema;
const MAX_DEPTH = 64;

export interface JudgeContext {
  readonly agents: AgentCatalog;
  /** undefined: no such model */
  readonly describeModel: (route: string) => ModelDescription | undefined;
}

/**
 * Decides whether a task may become a run of its producer. `principal` null: the event's source is not in producers.yaml.
 * Pure: the same submission under the same configuration has the same outcome.
 */
export function judgeSubmission(
  submission: Submission,
  principal: Principal | null,
  context: JudgeContext,
): AcceptedTask | Refusal {
  return (
    submission.fault ??
    identityFault(submission, principal) ??
    typeFault(submission.type) ??
    judgeData(submission.dataText, principal as Principal, context)
  );
}

function identityFault({ task, tenant }: Submission, principal: Principal | null): Refusal | undefined {
  if (principal === null)
    return {
      reason: 'forbidden',
      where: 'source',
      seen: shown(task.source),
      expected: 'a source that producers.yaml names',
      next: 'add the source to producers.yaml, or send the task over HTTP with a token',
    };
  if (tenant === undefined || tenant === principal.tenant) return undefined;
  return {
    reason: 'forbidden',
    where: 'tenant',
    seen: shown(tenant),
    expected: `\`${principal.tenant}\`, the tenant of the producer`,
    next: 'leave the attribute out, or send as a producer of that tenant',
  };
}

function typeFault(type: string): Refusal | undefined {
  if (type === TASK_TYPE) return undefined;
  const isOtherVersion = /^lineclear\.task\.submit\.v\d+$/.test(type);
  return {
    reason: isOtherVersion ? 'unsupported-version' : 'unknown-type',
    where: 'type',
    seen: shown(type),
    expected: `\`${TASK_TYPE}\``,
    next: isOtherVersion ? 'send a version that this release knows' : 'correct the type',
  };
}

function judgeData(dataText: string, principal: Principal, context: JudgeContext): AcceptedTask | Refusal {
  const data: unknown = JSON.parse(dataText);
  if (isDeeperThan(data, MAX_DEPTH))
    return dataFault('data', 'deeper nesting', `at most ${MAX_DEPTH} levels`, 'flatten the input');
  const lossy = findLossyNumber(dataText);
  if (lossy !== undefined)
    return dataFault('data', lossy, 'a number that a double holds exactly', 'send the number as a string');
  const parsed = TASK_SCHEMA.safeParse(data);
  if (!parsed.success) return schemaFault(data, parsed.error.issues[0]);
  const task = parsed.data;
  const definition = context.agents.find(task.agent);
  if (!definition)
    return dataFault('data.agent', shown(task.agent), context.agents.nearest(task.agent), 'name an agent that exists');
  return accepted(task, definition, principal, context);
}

function accepted(
  task: EventData<'task.submit'>,
  definition: AgentDefinition,
  principal: Principal,
  context: JudgeContext,
): AcceptedTask | Refusal {
  const model = context.describeModel(definition.model);
  if (!model?.price)
    return {
      reason: 'refused',
      where: `agent ${definition.agent}, model`,
      seen: `${definition.model} ${model ? 'without a price' : 'is not configured'}`,
      expected: 'a model with a known price, so that the money budget can be kept',
      next: 'give the model a price, or the agent another model',
    };
  return {
    definition,
    principal: { ...principal, roles: effectiveRoles(principal.roles, definition.principal.roles) },
    price: model.price,
    input: task.input,
    label: { confidentiality: 'internal', integrity: 'trusted' },
    conversationId: task.conversationId,
    taskType: task.taskType,
    tags: task.tags,
  };
}

type Issue = z.core.$ZodIssue;

function schemaFault(data: unknown, issue: Issue | undefined): Refusal {
  const path = issue?.path.map(String) ?? [];
  const where = ['data', ...path].join('.');
  if (issue?.code === 'unrecognized_keys') {
    const known = Object.keys(TASK_SCHEMA.shape);
    const key = issue.keys[0] ?? '';
    return dataFault(
      `${where}.${shown(key)}`,
      'a field that is not known',
      nearestNames(key, known),
      'correct or remove the field',
    );
  }
  const seen = valueAt(data, path);
  const expected = issue?.message.replace(/^Invalid input: expected /, '').replace(/, received .*$/, '') ?? 'a task';
  return dataFault(where, shown(seen), expected, seen === undefined ? 'add the field' : 'correct the field');
}

const dataFault = (where: string, seen: string, expected: string, next: string): Refusal => ({
  reason: 'invalid-message',
  where,
  seen,
  expected,
  next: `${next} and send the task again with a new id`,
});

function valueAt(value: unknown, path: readonly string[]): unknown {
  let current = value;
  for (const key of path) {
    if (typeof current !== 'object' || current === null || !Object.hasOwn(current, key)) return undefined;
    current = (current as Record<string, unknown>)[key];
  }
  return current;
}

/** Level by level, so that no depth overflows the stack. */
function isDeeperThan(root: unknown, depth: number): boolean {
  let level: unknown[] = [root];
  for (let n = 0; n <= depth; n += 1) {
    level = level.flatMap((value) => (typeof value === 'object' && value !== null ? Object.values(value) : []));
    if (level.length === 0) return false;
  }
  return true;
}
