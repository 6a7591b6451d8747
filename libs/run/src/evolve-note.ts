import { appendMessages, estimateTokens } from '@lineclear/context';
import { joinLabels } from '@lineclear/labels';
import type { RunNote } from './fact.js';
import { reserveModelCall } from './ledger.js';
import { liftUnknown } from './repeats.js';
import type { CallState, RunState } from './state.js';
import { recallMessage } from './texts.js';
import { callOf, closeCall, marked, withCall } from './turn.js';

type NoteOf<N extends RunNote['name']> = RunNote & { readonly name: N };

export function evolveNote(state: RunState, note: RunNote): RunState {
  switch (note.name) {
    case 'toolset-fixed':
      return fixToolset(state, note);
    case 'recall-joined':
      return joinRecall(state, note);
    case 'model-call-reserved': {
      const { step, attempt, jobId, reservation } = note;
      return {
        ...state,
        stage: 'reasoning',
        modelCall: { step, attempt, jobId, reservation },
        ledger: reserveModelCall(state.ledger, reservation),
      };
    }
    case 'recall-late':
      return { ...state, recallId: note.id };
    case 'fence-noted':
      return state.stop === undefined ? state : { ...state, stop: { ...state.stop, fencedN: note.n } };
    case 'unknown-resolved':
      return { ...state, tried: liftUnknown(state.tried, note.callId, note.happened) };
    default:
      return evolveCall(state, note);
  }
}

function fixToolset(state: RunState, { id, hash, tools }: NoteOf<'toolset-fixed'>): RunState {
  let fixedTokens = state.fixedTokens;
  for (const tool of tools)
    if (tool.status === 'available')
      fixedTokens += estimateTokens(tool.alias + tool.description + JSON.stringify(tool.schema));
  return { ...state, toolset: { id, hash, tools }, fixedTokens };
}

function joinRecall(state: RunState, { facts, id }: NoteOf<'recall-joined'>): RunState {
  const joined = { ...state, recalled: true, recallId: id };
  if (facts.length === 0) return joined;
  return {
    ...joined,
    window: appendMessages(state.window, [recallMessage(facts)]),
    label: joinLabels(state.label, ...facts.map((fact) => fact.label)),
  };
}

type CallNote = Exclude<
  RunNote,
  NoteOf<'toolset-fixed' | 'recall-joined' | 'recall-late' | 'model-call-reserved' | 'fence-noted' | 'unknown-resolved'>
>;

function evolveCall(state: RunState, note: CallNote): RunState {
  const call = note.callId === undefined ? undefined : callOf(state, note.callId);
  if (call === undefined) return state;
  const now = marked(call, note.mark);
  switch (note.name) {
    case 'call-referred': {
      const totals = { ...state.totals, approvals: state.totals.approvals + 1 };
      return withCall({ ...state, totals }, { ...now, phase: 'referred', verdict: 'referred', rules: note.rules });
    }
    case 'call-granted':
      return withCall(state, { ...now, phase: 'granted', approvalId: note.approvalId });
    case 'call-authorized':
      return withCall(state, authorized(now, note));
    case 'call-unknown':
      return withCall(state, { ...now, phase: 'unknown', unknownUntilMs: note.untilMs });
    case 'input-kept':
      return withCall(state, { ...now, early: [...now.early, note.early] });
    case 'call-closed': {
      const denied = note.rules === undefined ? now : { ...now, verdict: 'denied' as const, rules: note.rules };
      return closeCall(state, denied, note.result);
    }
    default:
      return withCall(state, now);
  }
}

function authorized(call: CallState, note: NoteOf<'call-authorized'>): CallState {
  return {
    ...call,
    phase: 'authorized',
    stage: call.phase === 'granted' ? 'approved' : 'first',
    verdict: 'authorized',
    rules: note.rules,
    digest: note.digest ?? call.digest,
    ...(note.arguments !== undefined && { arguments: note.arguments, edited: true }),
  };
}
