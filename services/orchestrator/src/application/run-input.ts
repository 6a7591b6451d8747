import type { EventName } from '@lineclear/contracts';
import { InvariantViolationError } from '@lineclear/errors';
import type { CommandInput, DroppedInput, EventInput, JobInput, LaneInput, TimerInput } from '@lineclear/messaging';
import type { ModelOutcome as GatewayOutcome } from '@lineclear/model-gateway';
import {
  type ModelOutcome,
  type RunCommand,
  type RunInput,
  type RunInputEventName,
  type RunTimer,
} from '@lineclear/run';
import { CANCEL, type CancelPayload, MODEL_CALL, type ModelCallPayload } from './names.js';

/** Everything but a task as the core takes it; `at` is the batch's time, ISO 8601. Throws InvariantViolationError for a kind that the consumer does not bind. */
export function toRunInput(input: LaneInput, at: string): RunInput {
  switch (input.kind) {
    case 'event':
      return eventInput(input, at);
    case 'timer':
      return timerInput(input, at);
    case 'job':
      return jobInput(input, at);
    case 'dropped':
      return dropInput(input, at);
    case 'command':
      if (input.name === CANCEL) return cancelInput(input, at);
  }
  throw new InvariantViolationError('invariant-violated', `a run takes no input of kind \`${input.kind}\``);
}

function eventInput({ event, name }: EventInput, at: string): RunInput {
  // The pair of name and data comes checked from the lane; TypeScript cannot carry the correlation through the union.
  return {
    kind: 'event',
    id: event.id,
    at,
    name: name as RunInputEventName,
    source: event.source,
    data: event.data,
  } as RunInput;
}

function timerInput({ id, name }: TimerInput, at: string): RunInput {
  return { kind: 'timer', id, at, name: name as RunTimer };
}

function cancelInput({ id, payload, by }: CommandInput, at: string): RunInput {
  const { reason } = payload as CancelPayload;
  return command(id, at, 'cancel', reason === undefined ? {} : { reason }, by?.subject ?? 'platform');
}

function dropInput({ id, name, event, by, reason }: DroppedInput<EventName>, at: string): RunInput {
  return command(id, at, 'drop', { name, id: event.id, reason }, by);
}

const command = (id: string, at: string, name: RunCommand, payload: Record<string, unknown>, by: string): RunInput => ({
  kind: 'command',
  id,
  at,
  name,
  payload,
  by,
});

function jobInput(input: JobInput, at: string): RunInput {
  if (input.job !== MODEL_CALL)
    throw new InvariantViolationError('invariant-violated', `a run takes no result of job \`${input.job}\``);
  const { step, attempt } = input.payload as ModelCallPayload;
  return { kind: 'job', id: input.id, at, step, attempt, outcome: outcomeOf(input) };
}

/** A stopped executor says nothing about what the provider did, so its attempt counts as lost. */
function outcomeOf({ outcome }: JobInput): ModelOutcome {
  switch (outcome.status) {
    case 'lost':
      return { status: 'lost' };
    case 'not-dispatched':
      return { status: 'not-dispatched' };
    case 'failed':
      return outcome.failure.code === 'cancelled'
        ? { status: 'lost' }
        : { status: 'failed', reason: outcome.failure.message };
    case 'done': {
      const reply = outcome.result as GatewayOutcome;
      return reply.status === 'failed' ? { status: 'failed', reason: reply.failure.message } : reply;
    }
  }
}
