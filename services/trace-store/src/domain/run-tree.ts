import type { EventData, EventName } from '@lineclear/contracts';
import { type ArchivedEvent, nameOf } from './archived-event.js';

export interface CallNode {
  readonly callId: string;
  readonly index: number;
  tool: string | null;
  /** how it ended, or the last thing known of it */
  status: string;
  reason: string | null;
  readonly events: EventRef[];
}

export interface TurnNode {
  readonly turn: number;
  readonly calls: CallNode[];
}

export interface ModelCallNode {
  readonly step: number;
  readonly attempt: number;
  readonly status: string;
  readonly at: string;
  readonly costMicros: number;
  readonly usage: EventData<'model-call.completed'>['usage'];
  /** calls that the reply asked for */
  readonly calls: number;
}

export interface EventRef {
  readonly id: string;
  readonly name: string;
  readonly at: string;
  readonly source: string;
}

/** A run as it went: what the model was asked, what it asked for, what became of each call. */
export interface RunTree {
  readonly runId: string;
  readonly agent: string | null;
  readonly state: string;
  readonly reason: string | null;
  readonly startedAt: string | null;
  readonly finishedAt: string | null;
  readonly modelCalls: readonly ModelCallNode[];
  readonly turns: readonly TurnNode[];
  /** events of the run that belong to no call and no model call */
  readonly others: readonly EventRef[];
  readonly totals: EventData<'run.finished'>['totals'] | null;
}

const STATUS_BY_NAME: { readonly [N in EventName]?: string } = {
  'tool-call.proposed': 'proposed',
  'tool-call.refused': 'refused',
  'tool-call.denied': 'denied',
  'tool-call.referred': 'referred',
  'tool-call.authorized': 'authorized',
  'approval.requested': 'waiting for approval',
  'approval.granted': 'granted',
  'approval.denied': 'denied by a person',
  'approval.expired': 'expired',
  'approval.withdrawn': 'withdrawn',
};

interface CallData {
  readonly callId: string;
  readonly turn: number;
  readonly index: number;
  readonly tool?: string;
  readonly status?: string;
  readonly outcome?: string;
  readonly reason?: string;
}

/** The tree of a run from its archived events, in causal order. */
export function runTree(runId: string, events: readonly ArchivedEvent[]): RunTree {
  const calls = new Map<string, CallNode>();
  const turns = new Map<number, TurnNode>();
  const modelCalls: ModelCallNode[] = [];
  const others: EventRef[] = [];
  let started: { at: string; data: EventData<'run.started'> } | undefined;
  let finished: { at: string; data: EventData<'run.finished'> } | undefined;
  for (const event of events) {
    const name = nameOf(event);
    const data: unknown = JSON.parse(event.dataText);
    if (isCallData(data)) addToCall(callOf(data, calls, turns), event, name, data);
    else if (name === 'model-call.completed')
      modelCalls.push(modelCallOf(event.time, data as EventData<'model-call.completed'>));
    else others.push(refOf(event, name));
    if (name === 'run.started') started = { at: event.time, data: data as EventData<'run.started'> };
    if (name === 'run.finished') finished = { at: event.time, data: data as EventData<'run.finished'> };
  }
  const definition = started?.data.definition;
  return {
    runId,
    agent: definition === undefined ? null : `${definition.agent}@${definition.version}`,
    state: finished?.data.state ?? 'running',
    reason: finished?.data.reason ?? null,
    startedAt: started?.at ?? null,
    finishedAt: finished?.at ?? null,
    modelCalls,
    turns: [...turns.values()].sort((a, b) => a.turn - b.turn),
    others,
    totals: finished?.data.totals ?? null,
  };
}

function callOf(data: CallData, calls: Map<string, CallNode>, turns: Map<number, TurnNode>): CallNode {
  const known = calls.get(data.callId);
  if (known !== undefined) return known;
  const call: CallNode = { callId: data.callId, index: data.index, tool: null, status: '', reason: null, events: [] };
  calls.set(call.callId, call);
  const turn = turns.get(data.turn) ?? { turn: data.turn, calls: [] };
  turns.set(data.turn, turn);
  turn.calls.push(call);
  turn.calls.sort((a, b) => a.index - b.index);
  return call;
}

function addToCall(call: CallNode, event: ArchivedEvent, name: string, data: CallData): void {
  call.tool = data.tool ?? call.tool;
  call.status = data.status ?? data.outcome ?? STATUS_BY_NAME[name as EventName] ?? call.status;
  call.reason = data.reason ?? null;
  call.events.push(refOf(event, name));
}

function modelCallOf(at: string, data: EventData<'model-call.completed'>): ModelCallNode {
  const { step, attempt, status, costMicros, usage, reply } = data;
  return { step, attempt, status, at, costMicros, usage, calls: reply?.calls.length ?? 0 };
}

const refOf = ({ id, time, source }: ArchivedEvent, name: string): EventRef => ({ id, name, at: time, source });

const isCallData = (data: unknown): data is CallData =>
  typeof data === 'object' && data !== null && 'callId' in data && 'turn' in data && 'index' in data;
