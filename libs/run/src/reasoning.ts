import type { ModelReply, Usage } from '@lineclear/contracts';
import { estimateTokens, messageTokens } from '@lineclear/context';
import type { Draft } from './draft.js';
import { budgetReason, finish, lostUsage } from './ending.js';
import { gateCalls, refuseCalls } from './gate.js';
import type { ModelCallEnded } from './input.js';
import { costMicrosOf, shortFor, usageOf } from './ledger.js';
import { nextStep, reservationFor } from './next-step.js';
import { afterCalls } from './open-turn.js';
import type { ModelCallState, RunState } from './state.js';

const MAX_CALLS = 64;

/** The end of the open attempt: a reply, which costs a step, or none. */
export function takeModelCall(draft: Draft, input: ModelCallEnded): void {
  const { modelCall } = draft.run;
  if (modelCall?.step !== input.step || modelCall.attempt !== input.attempt)
    return draft.remark('duplicate', `model call ${input.step}, attempt ${input.attempt}`);
  const { outcome } = input;
  switch (outcome.status) {
    case 'succeeded': {
      const fault = faultOf(outcome.reply);
      settle(draft, modelCall, { ...outcome, status: fault === undefined ? 'succeeded' : 'malformed', reason: fault });
      return fault === undefined ? takeReply(draft, outcome.reply) : nextStep(draft);
    }
    case 'malformed':
      settle(draft, modelCall, outcome);
      return nextStep(draft);
    case 'failed':
      settle(draft, modelCall, { ...outcome, usage: outcome.usage ?? usageOf(0, 0) });
      return finish(draft, { target: 'failed', reason: `the model cannot be reached: ${outcome.reason}` });
    case 'lost':
      settle(draft, modelCall, outcome);
      return nextStep(draft);
    case 'not-dispatched':
      settle(draft, modelCall, { status: 'lost', reason: 'not-dispatched', usage: usageOf(0, 0) });
      return nextStep(draft);
  }
}

/** Why a reply is no reply that may act, or undefined. A malformed one is never repaired. */
function faultOf({ calls, stopReason }: ModelReply): string | undefined {
  if (stopReason === 'length') return 'the reply was cut at its output limit';
  if (stopReason === 'refusal' && calls.length > 0) return 'the reply refuses and asks for calls';
  return calls.length > MAX_CALLS
    ? `the reply asks for ${calls.length} calls, at most ${MAX_CALLS} are possible`
    : undefined;
}

interface Settlement {
  readonly status: 'succeeded' | 'malformed' | 'failed' | 'lost';
  readonly reply?: ModelReply;
  readonly reason?: string | undefined;
  readonly usage?: Usage | undefined;
}

function settle(draft: Draft, { step, attempt, reservation }: ModelCallState, ended: Settlement): void {
  const { run } = draft;
  const reported = ended.usage?.estimated === false ? ended.usage : undefined;
  const lost = ended.status === 'lost' && reported === undefined;
  const usage =
    reported ?? (lost ? lostUsage(reservation.inputTokens, run.definition.maxOutputTokens) : guessed(run, ended.reply));
  draft.emit('model-call.completed', {
    step,
    attempt,
    status: ended.status,
    ...(ended.reply !== undefined && { reply: ended.reply }),
    ...(ended.reason !== undefined && { reason: ended.reason }),
    usage,
    costMicros: lost ? reservation.costMicros : costMicrosOf(usage, run.price),
  });
}

/** The stated estimate for usage that nobody reported: the window as it was sent, and the reply, or the whole permitted output. */
function guessed({ window, fixedTokens, definition }: RunState, reply: ModelReply | undefined): Usage {
  const output =
    reply === undefined
      ? definition.maxOutputTokens
      : Math.max(
          1,
          messageTokens({ role: 'assistant', turn: 0, text: reply.text, calls: reply.calls }),
          estimateTokens(reply.text),
        );
  return { ...usageOf(fixedTokens + window.tokens, output), estimated: true };
}

/** If the next step cannot be covered, no call of this reply is proposed: the run ends with what it has. */
function takeReply(draft: Draft, reply: ModelReply): void {
  if (reply.calls.length === 0) return takeAnswer(draft, reply);
  const { run } = draft;
  const short = shortFor(run.ledger, reservationFor(run));
  if (short === undefined) {
    gateCalls(draft, reply.calls);
    return afterCalls(draft);
  }
  const reason = budgetReason(run, short);
  refuseCalls(draft, reply.calls, reason);
  finish(draft, { target: 'budget_stop', reason });
}

function takeAnswer(draft: Draft, { text, stopReason }: ModelReply): void {
  if (stopReason === 'refusal') return finish(draft, { target: 'failed', reason: 'the model declined to answer' });
  finish(draft, { target: 'answered', reason: 'the model answered' }, text);
}
