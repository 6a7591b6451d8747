import { callIdOf, type EventData, runIdOf, type Usage } from '@lineclear/contracts';
import { appendMessages, clearTurns, EMPTY_WINDOW, estimateTokens } from '@lineclear/context';
import type { RunEvent, RunEventName } from './fact.js';
import { openLedger, reserveCall, settleModelCall, tokensOf, usageOf } from './ledger.js';
import { forgetCleared, NOTHING_TRIED, remember, repeatKeyOf } from './repeats.js';
import type { CallState, RunState, Totals } from './state.js';
import { callOf, closeCall, flushWhenComplete, toolNamed, withCall } from './turn.js';
import { taskMessage } from './texts.js';

type EventOf<N extends RunEventName> = RunEvent & { readonly name: N };

export function startRun({ at, data }: EventOf<'run.started'>): RunState {
  const startedMs = Date.parse(at);
  return {
    runId: runIdOf(data.principal.tenant, data.taskSource, data.taskId),
    taskId: data.taskId,
    taskSource: data.taskSource,
    payloadHash: data.payloadHash,
    definition: data.definition,
    principal: data.principal,
    price: data.price,
    label: data.label,
    stage: 'preparing',
    startedMs,
    nowMs: startedMs,
    version: 1,
    sequence: 1,
    pending: [],
    toolset: undefined,
    recalled: data.recall.k === 0,
    recallId: undefined,
    window: appendMessages(EMPTY_WINDOW, [taskMessage(data)]),
    fixedTokens: estimateTokens(data.definition.prompt),
    ledger: openLedger(data.budgets),
    active: { spentMs: 0, sinceMs: startedMs },
    modelCall: undefined,
    lostAttempts: 0,
    turn: undefined,
    tried: NOTHING_TRIED,
    stop: undefined,
    totals: { turns: 0, usage: usageOf(0, 0), costMicros: 0, approvals: 0, effects: 0, unknown: 0 },
    finished: undefined,
    unknownFields: {},
  };
}

export function evolveEvent(state: RunState, event: RunEvent): RunState {
  switch (event.name) {
    case 'model-call.completed':
      return endModelCall(state, event.data);
    case 'context.cleared':
      return {
        ...state,
        window: clearTurns(state.window, event.data.turns),
        tried: forgetCleared(state.tried, event.data.turns),
      };
    case 'tool-call.proposed':
      return propose(state, event.data);
    case 'tool-call.refused':
      return refuse(state, event.data);
    case 'run.stop-started':
      return startStop(state, event);
    case 'run.finished': {
      const { state: stage, reason, answer, findings } = event.data;
      const finished = { reason, ...(answer !== undefined && { answer }), ...(findings !== undefined && { findings }) };
      return { ...state, stage, finished };
    }
    default:
      return state;
  }
}

function endModelCall(state: RunState, data: EventData<'model-call.completed'>): RunState {
  const { modelCall } = state;
  if (modelCall === undefined) return state;
  const replied = data.status === 'succeeded' || data.status === 'malformed';
  const spent = { steps: replied ? 1 : 0, tokens: tokensOf(data.usage), costMicros: data.costMicros } as const;
  const settled: RunState = {
    ...state,
    modelCall: undefined,
    lostAttempts: data.status === 'lost' ? state.lostAttempts + 1 : 0,
    ledger: settleModelCall(state.ledger, modelCall.reservation, spent),
    totals: addUsage(state.totals, data.usage, data.costMicros),
  };
  return data.status === 'succeeded' && data.reply !== undefined ? openTurn(settled, data.reply) : settled;
}

function addUsage(totals: Totals, usage: Usage, costMicros: number): Totals {
  const sum = (a: number, b: number): number => Math.min(a + b, Number.MAX_SAFE_INTEGER);
  const before = totals.usage;
  return {
    ...totals,
    costMicros: sum(totals.costMicros, costMicros),
    usage: {
      uncached: sum(before.uncached, usage.uncached),
      cacheRead: sum(before.cacheRead, usage.cacheRead),
      cacheWrite: sum(before.cacheWrite, usage.cacheWrite),
      output: sum(before.output, usage.output),
      reasoning: sum(before.reasoning, usage.reasoning),
      estimated: before.estimated || usage.estimated,
    },
  };
}

type Reply = NonNullable<EventData<'model-call.completed'>['reply']>;

/** The provider's ids end here: in the window a call has our id, unique over the run (B09). */
function openTurn(state: RunState, { text, calls }: Reply): RunState {
  const turn = state.totals.turns + 1;
  const own = calls.map((call, index) => ({ ...call, id: callIdOf(state.runId, turn, index) }));
  return {
    ...state,
    stage: calls.length === 0 ? state.stage : 'turn',
    turn: { turn, size: calls.length, calls: [] },
    totals: { ...state.totals, turns: turn },
    window: appendMessages(state.window, [{ role: 'assistant', turn, text: text.toWellFormed(), calls: own }]),
  };
}

function propose(state: RunState, data: EventData<'tool-call.proposed'>): RunState {
  const { callId, turn, index, tool, round, definitionHash, digest } = data;
  const again = callOf(state, callId);
  if (again !== undefined)
    return withCall(state, {
      ...again,
      phase: 'proposed',
      round,
      stage: 'first',
      marks: [],
      early: [],
      verdict: undefined,
    });
  const call: CallState = {
    ...BLANK_CALL,
    callId,
    turn,
    index,
    tool,
    definitionHash,
    arguments: data.arguments,
    digest,
    repeatKey: repeatKeyOf(tool, data.arguments),
    phase: 'proposed',
  };
  const write = toolNamed(state, tool)?.traits.write ?? true;
  return withCall(
    {
      ...state,
      ledger: reserveCall(state.ledger),
      tried: remember(state.tried, { key: call.repeatKey, callId, turn, write }),
    },
    call,
  );
}

const BLANK_CALL: CallState = {
  callId: '',
  turn: 0,
  index: 0,
  tool: '',
  definitionHash: '',
  arguments: {},
  edited: false,
  digest: '',
  repeatKey: '',
  phase: 'closed',
  round: 1,
  stage: 'first',
  approvalId: undefined,
  verdict: undefined,
  rules: [],
  unknownUntilMs: undefined,
  early: [],
  marks: [],
  outcome: undefined,
  text: '',
  structured: undefined,
};

function refuse(state: RunState, data: EventData<'tool-call.refused'>): RunState {
  const { callId, turn, index, tool, message } = data;
  const open = callOf(state, callId);
  const none = { text: message, executed: false, effect: false, retryable: false };
  if (open !== undefined) return closeCall(state, open, { outcome: 'cancelled', ...none });
  return flushWhenComplete(
    withCall(state, { ...BLANK_CALL, callId, turn, index, tool, outcome: 'refused', text: message }),
  );
}

function startStop(state: RunState, { at, data }: EventOf<'run.stop-started'>): RunState {
  const { n, target, reason, by } = data;
  const fencedN = state.stop?.fencedN ?? 0;
  return { ...state, stage: 'stopping', stop: { target, reason, by, n, startedMs: Date.parse(at), fencedN } };
}
