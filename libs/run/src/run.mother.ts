import {
  type AgentDefinition,
  approvalIdOf,
  type Budgets,
  callIdOf,
  type CompletionStatus,
  decisionIdOf,
  type EventData,
  type ModelReply,
  type Price,
  runIdOf,
  type Stage,
  type ToolTraits,
  type ToolView,
  type Usage,
} from '@lineclear/contracts';
import type { Decider } from '@lineclear/decider';
import { decide } from './decide.js';
import { evolve } from './evolve.js';
import type { CallInput, Fact } from './fact.js';
import type { AcceptedTask, ModelOutcome, RunInput, RunInputEventName, RunTimer, TaskInput } from './input.js';
import type { RunState } from './state.js';

/** Test data with valid defaults: one run of one agent with four tools. Times are seconds after `EPOCH_MS`. */

export const EPOCH_MS = Date.parse('2026-11-29T10:00:00.000Z');
export const atSecond = (second: number): string => new Date(EPOCH_MS + second * 1000).toISOString();
export const RUN_ID = runIdOf('acme', '/erp/inbox', 'task-1');
export const PRICE: Price = { input: 1_000_000, cacheRead: 100_000, cacheWrite: 1_250_000, output: 4_000_000 };

export const runDecider: Decider<RunInput, RunState | undefined, Fact> = {
  initial: undefined,
  decide: (input, state) => decide(input, state).facts,
  evolve,
};

const AMPLE: Budgets = {
  steps: 8,
  tokens: 100_000,
  costMicros: 1_000_000,
  toolCalls: 20,
  activeMs: 600_000,
  wallMs: 86_400_000,
};

export function definition(budget: Partial<Budgets> = {}, more: Partial<AgentDefinition> = {}): AgentDefinition {
  return {
    agent: 'clerk',
    version: 1,
    prompt: 'Post the invoice.',
    model: 'scripted/test',
    tools: ['erp.*'],
    budget: { ...AMPLE, ...budget },
    context: { clearAtTokens: 100_000, keepResults: 3 },
    memory: { recall: 0 },
    maxOutputTokens: 100,
    principal: { roles: ['ap-clerk'] },
    ...more,
  };
}

export function task(
  agent: AgentDefinition = definition(),
  more: Partial<TaskInput> = {},
  accepted: Partial<AcceptedTask> = {},
): TaskInput {
  return {
    kind: 'task',
    id: 'task-1',
    at: atSecond(0),
    runId: RUN_ID,
    taskSource: '/erp/inbox',
    payloadHash: 'a'.repeat(64),
    submission: {
      definition: agent,
      principal: { tenant: 'acme', subject: 'alice', roles: ['ap-clerk'], scopes: [] },
      price: PRICE,
      input: { invoice: { number: 'INV-7' } },
      label: { confidentiality: 'internal', integrity: 'trusted' },
      ...accepted,
    },
    ...more,
  };
}

export function tool(name: string, traits: Partial<ToolTraits> = {}, more: Partial<ToolView> = {}): ToolView {
  return {
    name: `erp.${name}`,
    alias: `erp_${name}`,
    definitionHash: `hash-${name}`,
    description: name,
    schema: { type: 'object', properties: { n: { type: 'integer' } }, additionalProperties: false },
    traits: {
      write: false,
      repeatable: false,
      leavesSystem: false,
      key: 'honoured',
      timeoutMs: 5000,
      unknownWaitMs: 30_000,
      ...traits,
    },
    status: 'available',
    ...more,
  };
}

export const TOOLS: readonly ToolView[] = [
  tool('get'),
  tool('post', { write: true }),
  tool('poll', { repeatable: true }),
  tool('send', { write: true, unknownWaitMs: 0 }),
];

let count = 0;
/** An event of another service; the id is new each time unless given. */
export function event<N extends RunInputEventName>(
  name: N,
  data: EventData<N>,
  second = 1,
  id = `e${++count}`,
): RunInput {
  return { kind: 'event', id, at: atSecond(second), name, source: 'other', data } as RunInput;
}

export const toolset = (tools: readonly ToolView[] = TOOLS, second = 1): RunInput =>
  event('toolset.resolved', { toolsetHash: 'tools-1', tools: [...tools] }, second);

export const recalled = (facts: EventData<'memory.recalled'>['facts'] = [], second = 1): RunInput =>
  event('memory.recalled', { facts }, second);

export const timer = (name: RunTimer, second: number): RunInput => ({
  kind: 'timer',
  id: `${name}-${second}`,
  at: atSecond(second),
  name,
});

export const cancel = (second = 5, reason?: string): RunInput => ({
  kind: 'command',
  id: `cancel-${second}`,
  at: atSecond(second),
  name: 'cancel',
  payload: reason === undefined ? {} : { reason },
  by: 'bob',
});

export const drop = (second = 5): RunInput => ({
  kind: 'command',
  id: `drop-${second}`,
  at: atSecond(second),
  name: 'drop',
  payload: { name: 'tool-call.completed', id: 'x', reason: 'poison' },
  by: 'operator',
});

export const USAGE: Usage = { uncached: 100, cacheRead: 0, cacheWrite: 0, output: 10, reasoning: 0, estimated: false };

export function modelEnds(step: number, outcome: ModelOutcome, attempt = 1, second = 2): RunInput {
  return { kind: 'job', id: `job-${step}-${attempt}`, at: atSecond(second), step, attempt, outcome };
}

export type Asked = readonly [tool: string, args: Record<string, unknown> | string];

export function reply(text: string, calls: readonly Asked[] = []): ModelReply {
  return {
    text,
    calls: calls.map(([name, args], i) => ({
      id: `p${i}`,
      tool: name,
      argumentsText: typeof args === 'string' ? args : JSON.stringify(args),
    })),
    stopReason: calls.length > 0 ? 'calls' : 'end',
  };
}

/** The model asks for calls, or answers. */
export const says = (
  step: number,
  text: string,
  calls: readonly Asked[] = [],
  usage: Usage | undefined = USAGE,
): RunInput => modelEnds(step, { status: 'succeeded', reply: reply(text, calls), usage });

export interface Ref {
  readonly turn?: number;
  readonly index?: number;
  readonly round?: number;
  readonly stage?: Stage;
  readonly second?: number;
  readonly id?: string;
}

const refOf = ({ turn = 1, index = 0, round = 1, stage = 'first' }: Ref) => ({
  callId: callIdOf(RUN_ID, turn, index),
  turn,
  index,
  round,
  stage,
});

const decisionOf = (ref: ReturnType<typeof refOf>): string => decisionIdOf(ref.callId, ref.round, ref.stage);

export function authorized(ref: Ref = {}, edited?: Record<string, unknown>): CallInput {
  const at = refOf(ref);
  const claims = {
    jti: 'jti',
    tenant: 'acme',
    digest: edited === undefined ? 'd' : 'd-edited',
    exp: 1,
    policyVersion: 1,
  };
  return event(
    'tool-call.authorized',
    {
      ...at,
      decisionId: decisionOf(at),
      jws: 'x.y.z',
      claims,
      tool: 'erp.post',
      arguments: edited ?? {},
      definitionHash: 'h',
      rules: ['allow-1'],
      edited: edited !== undefined,
    } as EventData<'tool-call.authorized'>,
    ref.second,
    ref.id,
  ) as CallInput;
}

export function denied(ref: Ref = {}, terminal = false): CallInput {
  const at = refOf(ref);
  const data = {
    ...at,
    decisionId: decisionOf(at),
    tool: 'erp.post',
    rules: ['deny-1'],
    reason: 'not allowed',
    terminal,
    policyVersion: 1,
  };
  return event('tool-call.denied', data, ref.second, ref.id) as CallInput;
}

export function referred(ref: Ref = {}): CallInput {
  const at = refOf(ref);
  return event(
    'tool-call.referred',
    {
      ...at,
      decisionId: decisionOf(at),
      tool: 'erp.post',
      arguments: {},
      schema: {},
      definitionHash: 'h',
      digest: 'd',
      rules: ['ask-1'],
      why: 'large',
      label: { confidentiality: 'internal', integrity: 'trusted' },
      requester: 'alice',
      approvers: ['finance'],
      fourEyes: true,
      expiresAt: atSecond(3600),
      validForMs: 900_000,
      policyVersion: 1,
    },
    ref.second,
    ref.id,
  ) as CallInput;
}

export function granted(ref: Ref = {}): CallInput {
  const at = refOf(ref);
  const data = {
    ...at,
    approvalId: approvalIdOf(at.callId, at.round),
    by: 'carol',
    digest: 'd',
    validUntil: atSecond(900),
  };
  return event('approval.granted', data, ref.second, ref.id) as CallInput;
}

export function notApproved(
  name: 'approval.denied' | 'approval.expired' | 'approval.withdrawn',
  ref: Ref = {},
): CallInput {
  const at = refOf(ref);
  const data = { ...at, approvalId: approvalIdOf(at.callId, at.round), by: 'carol', reason: 'too much' };
  return event(name, data, ref.second, ref.id) as CallInput;
}

export function completed(
  status: CompletionStatus = 'succeeded',
  ref: Ref = {},
  more: Partial<EventData<'tool-call.completed'>> = {},
): CallInput {
  return event(
    'tool-call.completed',
    {
      ...refOf(ref),
      tool: 'erp.post',
      status,
      ...(status === 'succeeded' && { result: { text: 'ok' } }),
      label: { confidentiality: 'internal', integrity: 'trusted' },
      deduplicated: false,
      retryable: false,
      endedAt: atSecond(ref.second ?? 1),
      ...more,
    },
    ref.second,
    ref.id,
  ) as CallInput;
}

export function resolved(outcome: 'happened' | 'not-happened', ref: Ref = {}): CallInput {
  return event(
    'tool-call.resolved',
    { ...refOf(ref), outcome, by: 'operator', reason: 'looked' },
    ref.second,
    ref.id,
  ) as CallInput;
}

export function fenced(
  n = 1,
  open: readonly number[] = [],
  settled: readonly (readonly [index: number, status: CompletionStatus])[] = [],
  second = 6,
  turn = 1,
): RunInput {
  return event(
    'run.fenced',
    {
      n,
      open: open.map((index) => callIdOf(RUN_ID, turn, index)),
      settled: settled.map(([index, status]) => ({ callId: callIdOf(RUN_ID, turn, index), status })),
    },
    second,
  );
}

/** A run whose model was asked the first time. */
export const reasoning = (agent: AgentDefinition = definition(), tools: readonly ToolView[] = TOOLS): RunInput[] => [
  task(agent),
  toolset(tools),
];

/** A run whose first reply asks for these calls. */
export const openTurn = (calls: readonly Asked[], agent: AgentDefinition = definition()): RunInput[] => [
  ...reasoning(agent),
  says(1, 'I will', calls),
];

/** A fact in one line: `run.finished answered`, `note call-closed 0 denied`. */
export function seen(fact: Fact): string {
  if (fact.kind === 'note') return ['note', fact.name, ...noteDetails(fact)].join(' ');
  return [fact.name, ...eventDetails(fact)].join(' ');
}

const indexOf = (callId: string): string => callId.slice(callId.lastIndexOf('-') + 1);

function noteDetails(note: Fact & { readonly kind: 'note' }): string[] {
  if (note.name === 'call-closed') return [indexOf(note.callId), note.result.outcome];
  if (note.name === 'model-call-reserved') return [`${note.step}.${note.attempt}`];
  return 'callId' in note && note.callId !== undefined ? [indexOf(note.callId)] : [];
}

function eventDetails(fact: Fact & { readonly kind: 'event' }): string[] {
  switch (fact.name) {
    case 'run.finished':
      return [fact.data.state];
    case 'run.stop-started':
      return [String(fact.data.n), fact.data.target];
    case 'model-call.completed':
      return [`${fact.data.step}.${fact.data.attempt}`, fact.data.status];
    case 'tool-call.proposed':
      return [String(fact.data.index), `round ${fact.data.round}`];
    case 'tool-call.refused':
      return [String(fact.data.index), fact.data.reason];
    case 'context.cleared':
      return [fact.data.turns.join()];
    case 'task.refused':
      return [fact.data.reason];
    default:
      return [];
  }
}
