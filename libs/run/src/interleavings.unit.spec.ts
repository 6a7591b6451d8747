import type { Message } from '@lineclear/contracts';
import { fold } from '@lineclear/decider';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Fact } from './fact.js';
import { type ArchivedEvent, replay } from './replay.js';
import { runDecider } from './run.mother.js';
import { toSnapshot } from './snapshot.js';
import { isTerminal, type RunState } from './state.js';
import { World, type WorldOptions } from './world.mother.js';

const json = <T>(value: T): T => JSON.parse(JSON.stringify(value)) as T;

/** I6: every call has exactly one result, in order, right behind its reply. `tail`: the last reply may still wait for its results. */
function wellFormed(messages: readonly Message[]): boolean {
  let open: string[] = [];
  for (const message of messages) {
    if (message.role === 'tool') {
      if (open.shift() !== message.callId || !message.text.isWellFormed()) return false;
    } else if (open.length > 0) return false;
    if (message.role === 'assistant') open = message.calls.map(({ id }) => id);
  }
  return true;
}

/** I5 at every fact. */
function ledgerHolds({ ledger }: RunState): boolean {
  return Object.values(ledger).every(
    ({ limit, spent, reserved }) => spent >= 0 && reserved >= 0 && spent + reserved <= limit,
  );
}

function countResults(facts: readonly Fact[]): Map<string, number> {
  const results = new Map<string, number>();
  const count = (callId: string, by: number) => results.set(callId, (results.get(callId) ?? 0) + by);
  for (const fact of facts) {
    if (fact.name === 'call-closed') count(fact.callId, 1);
    if (fact.name === 'tool-call.refused') count(fact.data.callId, 1);
    if (fact.name === 'tool-call.proposed') count(fact.data.callId, 0);
  }
  return results;
}

function archiveOf(world: World): ArchivedEvent[] {
  const own = world.facts.flatMap((fact) => (fact.kind === 'event' ? [fact] : []));
  const others = world.inputs.flatMap((input) => (input.kind === 'event' ? [input] : []));
  return json([
    ...own.map(({ name, at, data }, i) => ({ id: `r${i}`, source: 'orchestrator', name, time: at, data })),
    ...others.map(({ id, source, name, at, data }) => ({ id, source, name, time: at, data })),
  ]);
}

function check(options: WorldOptions): void {
  const world = new World(options);
  world.run();
  const { state, facts } = world;
  if (state === undefined) throw new Error('no run');
  const named = (name: string) => facts.filter((fact) => fact.name === name).length;

  expect(isTerminal(state.stage)).toBe(true);
  expect(named('run.finished')).toBe(1);
  expect([...countResults(facts).values()].every((results) => results === 1)).toBe(true);
  const replies = facts.filter(
    (fact) =>
      fact.name === 'model-call.completed' && (fact.data.status === 'succeeded' || fact.data.status === 'malformed'),
  ).length;
  expect([state.ledger.steps.spent, state.ledger.steps.reserved, state.ledger.toolCalls.reserved]).toEqual([
    replies,
    0,
    0,
  ]);
  expect(replies).toBeLessThanOrEqual(options.steps);

  let folded: RunState | undefined;
  for (const fact of json(facts)) {
    folded = runDecider.evolve(folded, fact);
    if (folded === undefined) continue;
    if (!ledgerHolds(folded) || !wellFormed(folded.window.messages.toArray()))
      throw new Error(`broken by ${fact.name}`);
  }
  expect(json(toSnapshot(fold(runDecider, [], folded) ?? state))).toEqual(json(toSnapshot(state)));
  expect(replay(state.runId, archiveOf(world))).toEqual({
    identical: true,
    events: state.sequence,
    firstDifference: null,
  });
}

describe('a run among the other services', () => {
  it('ends, once, with one result per call, whatever the order, the duplicates and the moment of a cancel', () => {
    const options = fc.record({
      seed: fc.integer({ min: 1, max: 2 ** 31 }),
      steps: fc.integer({ min: 1, max: 6 }),
      canCancel: fc.boolean(),
      toolCalls: fc.integer({ min: 0, max: 8 }),
    });
    fc.assert(fc.property(options, check), { numRuns: 150 });
  });

  it('reaches every terminal state', () => {
    const ends = new Set<string>();
    for (let seed = 1; seed <= 120; seed++) {
      const world = new World({ seed, steps: 4, canCancel: true });
      world.run();
      ends.add(String(world.state?.stage));
    }
    expect([...ends].toSorted()).toEqual(['answered', 'budget_stop', 'cancelled', 'failed']);
  });
});
