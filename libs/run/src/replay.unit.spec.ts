import { describe, expect, it } from 'vitest';
import { decide } from './decide.js';
import type { RunEvent } from './fact.js';
import type { RunInput } from './input.js';
import { type ArchivedEvent, replay } from './replay.js';
import {
  authorized,
  cancel,
  completed,
  definition,
  denied,
  fenced,
  granted,
  modelEnds,
  openTurn,
  recalled,
  referred,
  RUN_ID,
  says,
  task,
  timer,
  toolset,
} from './run.mother.js';
import type { RunState } from './state.js';

/** What the archive holds of a run: its own events in order, and those of others, as JSON gives them back. */
function recordedRun(inputs: readonly RunInput[]): ArchivedEvent[] {
  const own: RunEvent[] = [];
  let state: RunState | undefined;
  for (const input of inputs) {
    const decision = decide(input, state);
    state = decision.state;
    for (const fact of decision.facts) if (fact.kind === 'event') own.push(fact);
  }
  const others = inputs.flatMap((input) =>
    input.kind === 'event'
      ? [{ id: input.id, source: input.source, name: input.name, time: input.at, data: input.data }]
      : [],
  );
  const mine = own.map((fact, i) => ({
    id: `r${i}`,
    source: 'orchestrator',
    name: fact.name,
    time: fact.at,
    data: fact.data,
  }));
  return structuredClone(JSON.parse(JSON.stringify([...others.toReversed(), ...mine])) as ArchivedEvent[]);
}

/** A run that meets everything: recall, lost and malformed attempts, estimates, approval with an edit, rounds, early answers, stop. */
const eventful = [
  task(definition({}, { memory: { recall: 5 } })),
  toolset(),
  timer('recall', 2),
  recalled([], 3),
  modelEnds(1, { status: 'lost' }),
  modelEnds(1, { status: 'not-dispatched' }, 2),
  modelEnds(1, { status: 'malformed', reason: 'glued' }, 3),
  modelEnds(2, { status: 'succeeded', reply: { text: 'x', calls: [], stopReason: 'length' } }),
  says(3, 'now', [
    ['erp_post', { n: 1 }],
    ['erp_get', { n: 2 }],
    ['erp_nope', {}],
    ['erp_get', { n: 'x' }],
  ]),
  completed('succeeded', { index: 1 }),
  granted(),
  referred(),
  authorized({ stage: 'approved' }, { n: 7 }),
  authorized({ index: 1 }),
  completed('not-dispatched', { stage: 'approved' }, { reason: 'authorization-expired' }),
  denied({ index: 1 }),
  authorized({ round: 2 }),
  completed('unknown', { round: 2 }),
  timer('unknown', 60),
  says(4, 'more', [
    ['erp_send', {}],
    ['erp_poll', {}],
  ]),
  authorized({ turn: 2 }),
  cancel(70, 'enough'),
  timer('stop', 80),
  fenced(2, [0], [], 81, 2),
  completed('failed', { turn: 2, second: 82 }),
];

describe('replay', () => {
  const events = recordedRun(eventful);
  const ownEvents = events.filter(({ source }) => source === 'orchestrator');
  const changed = (index: number, change: (data: Record<string, unknown>) => void): ArchivedEvent[] => {
    const copy = structuredClone(events);
    const event = copy.filter(({ source }) => source === 'orchestrator')[index];
    if (event !== undefined) change(event.data as Record<string, unknown>);
    return copy;
  };

  it('is identical for a run that met everything, from its events alone', () => {
    expect(ownEvents.at(-1)).toMatchObject({ name: 'run.finished', data: { state: 'cancelled' } });
    expect(replay(RUN_ID, events)).toEqual({ identical: true, events: ownEvents.length, firstDifference: null });
  });

  it('is identical for a run that is not finished', () => {
    expect(replay(RUN_ID, recordedRun(eventful.slice(0, 14))).identical).toBe(true);
  });

  it('leaves refused tasks aside', () => {
    const again = task(definition(), { payloadHash: 'b'.repeat(64) });
    expect(replay(RUN_ID, recordedRun([...openTurn([['erp_get', {}]]), again, cancel(9)])).identical).toBe(true);
  });

  it('S36: names the first event that a changed prompt or budget would change', () => {
    const prompt = { ...definition({}, { memory: { recall: 5 } }), prompt: 'Post nothing.' };
    expect(replay(RUN_ID, events, prompt).firstDifference).toEqual({
      index: 0,
      event: 'run.started',
      path: '/definition/prompt',
      recorded: 'Post the invoice.',
      replayed: 'Post nothing.',
    });
  });

  it('S36: names the first event whose data the core would decide otherwise', () => {
    const refused = ownEvents.findIndex(({ name }) => name === 'tool-call.refused');
    const verdict = replay(
      RUN_ID,
      changed(refused, (data) => (data['reason'] = 'invalid')),
    );
    expect(verdict).toMatchObject({
      identical: false,
      firstDifference: {
        index: refused,
        event: 'tool-call.refused',
        path: '/reason',
        recorded: 'invalid',
        replayed: 'unknown-tool',
      },
    });
  });

  it('S36: a changed reply changes what follows, and the first such event is named', () => {
    const completedAt = ownEvents.findIndex(
      ({ name, data }) => name === 'model-call.completed' && JSON.stringify(data).includes('erp_post'),
    );
    const verdict = replay(
      RUN_ID,
      changed(completedAt, (data) => {
        const reply = data['reply'] as { calls: { argumentsText: string }[] };
        for (const call of reply.calls.slice(0, 1)) call.argumentsText = '{"n":2}';
      }),
    );
    expect(verdict.firstDifference).toMatchObject({
      index: completedAt + 1,
      event: 'tool-call.proposed',
      path: '/arguments/n',
      recorded: 1,
      replayed: 2,
    });
  });

  it('names an event that is missing, added or out of order', () => {
    const last = ownEvents.length - 1;
    const without = events.filter((event) => event !== ownEvents[last]);
    expect(replay(RUN_ID, without).identical).toBe(true);
    const gap = events.filter((event) => event !== ownEvents[4]);
    expect(replay(RUN_ID, gap).firstDifference).toMatchObject({ index: 4 });
    const doubled = [
      ...events,
      { id: 'x', source: 'orchestrator', name: 'run.finished' as const, time: 'now', data: { inputs: [] } },
    ];
    expect(replay(RUN_ID, doubled).firstDifference).toMatchObject({
      index: last + 1,
      event: 'run.finished',
      replayed: null,
    });
    expect(replay(RUN_ID, []).identical).toBe(false);
  });

  it('names an input that the archive does not hold', () => {
    const lost = events.filter(({ name }) => name !== 'toolset.resolved');
    expect(replay(RUN_ID, lost).firstDifference).toMatchObject({
      index: 1,
      event: 'model-call.completed',
      recorded: { kind: 'event' },
      replayed: expect.stringMatching(/not in the archive/),
    });
  });
});
