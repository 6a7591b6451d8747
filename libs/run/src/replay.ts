import {
  type AgentDefinition,
  canonicalJson,
  EVENTS,
  type EventData,
  type EventName,
  type RecordedInput,
} from '@lineclear/contracts';
import { decide } from './decide.js';
import { type Difference, firstDifference } from './difference.js';
import type { RunEvent } from './fact.js';
import { type ModelOutcome, RUN_TIMERS, type RunInput, type RunInputEventName } from './input.js';
import type { RunState } from './state.js';

/** An event as the archive holds it. */
export interface ArchivedEvent {
  readonly id: string;
  /** service that sent it, as in the envelope */
  readonly source: string;
  readonly name: EventName;
  readonly time: string;
  readonly data: unknown;
}

export interface ReplayVerdict {
  readonly identical: boolean;
  /** own events compared */
  readonly events: number;
  readonly firstDifference: Difference | null;
}

type Recorded = ArchivedEvent & { readonly data: { readonly inputs: readonly RecordedInput[] } };

/**
 * Decides the whole run again from its recorded inputs and compares every event, byte for byte in canonical JSON. `events`: all archived events of the
 * run (subject = run id), the run's own in their order, others anywhere. No external call is made. With `definition` the run is decided as that
 * agent would today. Never throws: what cannot be decided again is a difference.
 */
export function replay(runId: string, events: readonly ArchivedEvent[], definition?: AgentDefinition): ReplayVerdict {
  const own = events.filter(({ name }) => EVENTS[name].topic === 'runs' && name !== 'task.refused') as Recorded[];
  const others = new Map(events.map((event) => [`${event.source}\n${event.id}`, event]));
  const replayed: RunEvent[] = [];
  let state: RunState | undefined;
  const verdict = (difference: Difference | null): ReplayVerdict => ({
    identical: difference === null,
    events: own.length,
    firstDifference: difference,
  });
  for (const [index, event] of own.entries()) {
    for (const recorded of event.data.inputs) {
      const input = inputOf(recorded, { runId, event, others, definition });
      if (typeof input === 'string') return verdict({ index, event: event.name, path: '', recorded, replayed: input });
      try {
        const decision = decide(input, state);
        state = decision.state;
        for (const fact of decision.facts) if (fact.kind === 'event') replayed.push(fact);
      } catch (error) {
        return verdict({
          index,
          event: event.name,
          path: '',
          recorded,
          replayed: `the input cannot be decided: ${String(error)}`,
        });
      }
    }
    const difference = compare(index, event, replayed[index]);
    if (difference !== null) return verdict(difference);
  }
  const extra = replayed[own.length];
  if (extra === undefined) return verdict(own.length === 0 ? nothingRecorded : null);
  return verdict({ index: own.length, event: extra.name, path: '', recorded: null, replayed: extra.data });
}

const nothingRecorded: Difference = { index: 0, event: 'run.started', path: '', recorded: null, replayed: null };

function compare(index: number, recorded: ArchivedEvent, replayed: RunEvent | undefined): Difference | null {
  const at = { index, event: recorded.name };
  if (replayed === undefined) return { ...at, path: '', recorded: recorded.data, replayed: null };
  if (replayed.name !== recorded.name) return { ...at, path: '', recorded: recorded.name, replayed: replayed.name };
  if (canonicalJson(recorded.data) === canonicalJson(replayed.data)) return null;
  return { ...at, ...firstDifference(recorded.data, replayed.data) };
}

interface Sources {
  readonly runId: string;
  /** the event in whose `inputs` the input stands */
  readonly event: Recorded;
  readonly others: ReadonlyMap<string, ArchivedEvent>;
  readonly definition: AgentDefinition | undefined;
}

/** The input behind a record; text: why it cannot be had. */
function inputOf(recorded: RecordedInput, { runId, event, others, definition }: Sources): RunInput | string {
  const { id, at } = recorded;
  switch (recorded.kind) {
    case 'task':
      return event.name === 'run.started'
        ? taskOf(runId, recorded, event.data as unknown as EventData<'run.started'>, definition)
        : 'a task outside run.started';
    case 'job':
      return event.name === 'model-call.completed'
        ? {
            kind: 'job',
            id,
            at,
            step: recorded.step,
            attempt: recorded.attempt,
            outcome: outcomeOf(event.data as unknown as EventData<'model-call.completed'>),
          }
        : 'a model call outside model-call.completed';
    case 'timer': {
      const name = RUN_TIMERS.find((timer) => timer === recorded.name);
      return name === undefined
        ? `a timer \`${recorded.name}\` that this release does not know`
        : { kind: 'timer', id, at, name };
    }
    case 'command':
      if (recorded.name !== 'cancel' && recorded.name !== 'drop')
        return `a command \`${recorded.name}\` that this release does not know`;
      return {
        kind: 'command',
        id,
        at,
        name: recorded.name,
        payload: recorded.payload as Record<string, unknown>,
        by: recorded.by,
      };
    case 'event': {
      const { source } = recorded;
      const found = others.get(`${source}\n${id}`);
      if (found === undefined) return `event \`${id}\` of ${source}, which is not in the archive`;
      return { kind: 'event', id, at, source, name: found.name as RunInputEventName, data: found.data } as RunInput;
    }
  }
}

function taskOf(
  runId: string,
  { id, at }: RecordedInput,
  started: EventData<'run.started'>,
  definition: AgentDefinition = started.definition,
): RunInput {
  const { taskSource, payloadHash, principal, price, input = {}, label, conversationId, taskType, tags } = started;
  const submission = { definition, principal, price, input, label, conversationId, taskType, tags };
  return { kind: 'task', id, at, runId, taskSource, payloadHash, submission };
}

/** A reply that the core itself found malformed is given back as it came; an estimate is made anew. */
function outcomeOf({ status, reply, reason = '', usage: billed }: EventData<'model-call.completed'>): ModelOutcome {
  const usage = billed.estimated ? undefined : billed;
  switch (status) {
    case 'succeeded':
    case 'malformed':
      return reply === undefined ? { status: 'malformed', reason, usage } : { status: 'succeeded', reply, usage };
    case 'failed':
      return { status: 'failed', reason, usage };
    case 'lost':
      return reason === 'not-dispatched' ? { status: 'not-dispatched' } : { status: 'lost' };
  }
}
