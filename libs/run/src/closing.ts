import type { CompletionStatus, Label } from '@lineclear/contracts';
import { labelOfResult } from '@lineclear/labels';
import type { Draft } from './draft.js';
import type { CallInput, CallResult } from './fact.js';
import type { EventInputOf } from './input.js';
import { markOf } from './slots.js';
import type { CallState } from './state.js';
import {
  approvalText,
  cancelledText,
  deniedText,
  notDispatchedText,
  notHappenedText,
  resultText,
  unknownText,
} from './texts.js';
import { toolNamed } from './turn.js';

const NOT_EXECUTED = { executed: false, effect: false, retryable: false } as const;

type ClosingInput = Exclude<
  CallInput,
  EventInputOf<'tool-call.referred' | 'tool-call.authorized' | 'approval.granted'>
>;

/** Closes a call by the answer that ends it; in a run that is being stopped a completion is the result whatever its status. */
export function closeBy(draft: Draft, call: CallState, input: ClosingInput): void {
  const rules = input.name === 'tool-call.denied' ? { rules: input.data.rules } : {};
  draft.note({
    name: 'call-closed',
    callId: call.callId,
    result: resultOf(draft, call, input),
    ...rules,
    mark: markOf(input),
  });
}

/** Closes a call of which only the status is known: from run.fenced, or a wait that is over. */
export function closeByStatus(draft: Draft, call: CallState, status: CompletionStatus): void {
  const write = isWrite(draft, call);
  const result: CallResult = {
    outcome: status === 'not-dispatched' ? 'cancelled' : status,
    text: textOfStatus(call, status),
    executed: status !== 'not-dispatched',
    effect: status === 'succeeded' && write,
    retryable: false,
  };
  draft.note({ name: 'call-closed', callId: call.callId, result });
}

function textOfStatus(call: CallState, status: CompletionStatus): string {
  if (status === 'unknown') return unknownText(undefined);
  if (status === 'not-dispatched') return cancelledText;
  return resultText(call, undefined, status === 'succeeded' ? '(the result is not at hand)' : 'failed');
}

function resultOf(draft: Draft, call: CallState, input: ClosingInput): CallResult {
  switch (input.name) {
    case 'tool-call.denied':
      return { outcome: 'denied', text: deniedText(input.data.reason), ...NOT_EXECUTED };
    case 'approval.denied':
    case 'approval.withdrawn':
    case 'approval.expired': {
      const text = approvalText[input.name](input.data.reason, input.data.by);
      return { outcome: input.name === 'approval.expired' ? 'expired' : 'denied', text, ...NOT_EXECUTED };
    }
    case 'tool-call.completed':
      return completionOf(draft, call, input.data);
    case 'tool-call.resolved':
      return resolutionOf(draft, call, input.data);
  }
}

function completionOf(draft: Draft, call: CallState, data: EventInputOf<'tool-call.completed'>['data']): CallResult {
  const { status, reason, result, retryable } = data;
  if (status === 'not-dispatched') {
    const stopped = draft.run.stage === 'stopping';
    return stopped
      ? { outcome: 'cancelled', text: cancelledText, ...NOT_EXECUTED }
      : { outcome: 'not-dispatched', text: notDispatchedText(reason), ...NOT_EXECUTED, retryable };
  }
  const structured = result?.structured;
  return {
    outcome: status,
    text: status === 'unknown' ? unknownText(reason) : resultText(call, result, reason ?? status),
    ...(structured !== undefined && status !== 'unknown' && { structured }),
    label: labelFor(draft, data.label),
    executed: true,
    effect: status === 'succeeded' && !data.deduplicated && isWrite(draft, call),
    retryable: status === 'failed' && retryable,
  };
}

function resolutionOf(draft: Draft, call: CallState, data: EventInputOf<'tool-call.resolved'>['data']): CallResult {
  const happened = data.outcome === 'happened';
  const structured = data.result?.structured;
  return {
    outcome: happened ? 'succeeded' : 'failed',
    text: happened ? resultText(call, data.result, `It took effect: ${data.reason}`) : notHappenedText(data.reason),
    ...(structured !== undefined && { structured }),
    label: labelFor(draft, undefined),
    executed: true,
    effect: happened && isWrite(draft, call),
    retryable: !happened,
  };
}

const labelFor = (draft: Draft, stated: Label | undefined): Label => labelOfResult(draft.run.label, stated);
const isWrite = (draft: Draft, call: CallState): boolean => toolNamed(draft.run, call.tool)?.traits.write ?? true;
