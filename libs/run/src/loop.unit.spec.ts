import { describe, expect, it } from 'vitest';
import { decide } from './decide.js';
import type { Decision } from './decision.js';
import type { Fact } from './fact.js';
import type { RunInput } from './input.js';
import {
  type Asked,
  authorized,
  completed,
  definition,
  denied,
  modelEnds,
  reasoning,
  reply,
  USAGE,
} from './run.mother.js';
import { fromSnapshot, toSnapshot } from './snapshot.js';
import type { RunState } from './state.js';

type Verdict = 'allow' | 'deny';

/** Plays a model that never finishes until the run ends; every state goes through a snapshot, as after a restart. */
function playLoop(
  steps: number,
  asks: (turn: number) => readonly Asked[],
  verdict: Verdict = 'allow',
  toolCalls = 100,
) {
  const facts: Fact[] = [];
  let state: RunState | undefined;
  let modelCalls = 0;
  const take = (input: RunInput): Decision => {
    const decision = decide(
      input,
      state && fromSnapshot(JSON.parse(JSON.stringify(toSnapshot(state))) as Record<string, unknown>),
    );
    state = decision.state;
    facts.push(...decision.facts);
    modelCalls += decision.plan.filter((item) => item.do === 'start-model-call').length;
    return decision;
  };
  for (const input of reasoning(definition({ steps, toolCalls }))) take(input);
  while (state?.modelCall !== undefined && modelCalls < 100) {
    const { step, attempt } = state.modelCall;
    const { facts: decided } = take(
      modelEnds(step, { status: 'succeeded', reply: reply('again', asks(step)), usage: USAGE }, attempt),
    );
    for (const fact of decided) {
      if (fact.name !== 'tool-call.proposed') continue;
      const ref = { turn: fact.data.turn, index: fact.data.index };
      if (verdict === 'deny') take(denied(ref));
      else for (const input of [authorized(ref), completed('succeeded', ref)]) take(input);
    }
  }
  const proposed = facts.filter(({ name }) => name === 'tool-call.proposed').length;
  return { state, modelCalls, proposed, finished: facts.filter(({ name }) => name === 'run.finished').length };
}

const A: Asked = ['erp_get', { n: 1 }];
const B: Asked = ['erp_get', { n: 2 }];
const five = (turn: number): Asked[] => [1, 2, 3, 4, 5].map((n) => ['erp_get', { n: turn * 10 + n }]);

describe('B17: a model that never finishes', () => {
  const scripts: [string, (turn: number) => readonly Asked[], Verdict][] = [
    ['repeats one call', () => [A], 'allow'],
    ['alternates A, B', (turn) => [turn % 2 === 0 ? A : B], 'allow'],
    ['asks for five calls at once', five, 'allow'],
    ['repeats a denied call', () => [A], 'deny'],
    ['writes nonsense', () => [['erp_nope', 'NaN']], 'allow'],
  ];

  describe.each([1, 2, 8])('with a limit of %d', (limit) => {
    it.each(scripts)('%s: exactly that many model calls, one end, budget_stop', (_, asks, verdict) => {
      const { state, modelCalls, finished } = playLoop(limit, asks, verdict);
      expect([modelCalls, finished, state?.stage]).toEqual([limit, 1, 'budget_stop']);
      expect(state?.ledger.steps).toEqual({ limit, spent: limit, reserved: 0 });
      expect(state?.finished).toMatchObject({
        reason: `the budget of ${limit} steps is used up`,
        findings: expect.stringContaining('again'),
      });
    });
  });

  it('repeats reach the tool once', () => {
    expect(playLoop(8, () => [A]).proposed).toBe(1);
    expect(playLoop(8, (turn) => [turn % 2 === 0 ? A : B]).proposed).toBe(2);
    expect(playLoop(8, () => [A], 'deny').proposed).toBe(1);
    const spellings = ['{"n":1}', '{ "n" : 1 }', '{"n":1.0}', '{"n":1e0}'];
    expect(playLoop(8, (turn) => [['erp_get', spellings[turn % 4] ?? '']]).proposed).toBe(1);
  });

  it('five calls at once: those of the last reply are not proposed, for no further step could use them', () => {
    expect(playLoop(2, five).proposed).toBe(5);
    expect(playLoop(1, five).proposed).toBe(0);
  });

  it('five calls at once never exceed the budget of tool calls', () => {
    const { state, proposed } = playLoop(8, five, 'allow', 7);
    expect([proposed, state?.ledger.toolCalls]).toEqual([7, { limit: 7, spent: 7, reserved: 0 }]);
  });
});
