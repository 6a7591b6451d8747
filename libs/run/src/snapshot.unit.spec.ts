import { fold, play } from '@lineclear/decider';
import { describe, expect, it } from 'vitest';
import { evolve } from './evolve.js';
import type { Fact } from './fact.js';
import {
  authorized,
  completed,
  definition,
  granted,
  openTurn,
  referred,
  runDecider,
  says,
  task,
} from './run.mother.js';
import { fromSnapshot, toSnapshot } from './snapshot.js';
import type { RunState } from './state.js';
import { runViewOf } from './view.js';

const path = [
  ...openTurn([
    ['erp_post', { n: 1 }],
    ['erp_get', { n: 1 }],
  ]),
  completed('succeeded', { index: 1 }),
  referred(),
  authorized({ index: 1 }),
  granted(),
  authorized({ stage: 'approved' }),
  completed('unknown', { stage: 'approved' }),
];

const json = <T>(value: T): T => JSON.parse(JSON.stringify(value)) as T;
const must = (state: RunState | undefined): RunState => {
  if (state === undefined) throw new Error('no state');
  return state;
};

describe('snapshot', () => {
  it('gives the state back at every point of a run, and the run goes on the same', () => {
    for (let length = 1; length <= path.length; length++) {
      const state = must(play(runDecider, path.slice(0, length)).state);
      const back = fromSnapshot(json(toSnapshot(state)));
      expect(json(toSnapshot(back))).toEqual(json(toSnapshot(state)));
      const rest = path.slice(length);
      expect(json(play(runDecider, rest, back).outputs)).toEqual(json(play(runDecider, rest, state).outputs));
    }
  });

  it('keeps fields of a later release, and refuses a later format', () => {
    const snapshot = json(toSnapshot(must(play(runDecider, path).state)));
    const later = { ...snapshot, lease: { from: 'parent' }, state: { ...(snapshot['state'] as object), children: 3 } };
    const again = toSnapshot(fromSnapshot(later));
    expect(again['lease']).toEqual({ from: 'parent' });
    expect(again['state']).toMatchObject({ children: 3 });
    expect(() => fromSnapshot({ ...snapshot, format: 2 })).toThrow(/has format `2`, expected 1/);
  });
});

describe('evolve', () => {
  it('folds stored facts, after JSON, to the state that decided them', () => {
    const { state, outputs } = play(runDecider, path);
    const folded = fold<unknown, RunState | undefined, Fact>({ ...runDecider, evolve }, json(outputs));
    expect(json(toSnapshot(must(folded)))).toEqual(json(toSnapshot(must(state))));
  });

  it('never changes a state in place', () => {
    let state: RunState | undefined;
    const seen: [RunState, string][] = [];
    for (const input of path) {
      for (const fact of runDecider.decide(input, state)) {
        state = evolve(state, fact);
        if (state !== undefined) seen.push([state, JSON.stringify(toSnapshot(state))]);
      }
    }
    expect(seen.every(([then, text]) => JSON.stringify(toSnapshot(then)) === text)).toBe(true);
  });

  it('S38: a long run costs the same per step: state is shared, not copied', () => {
    const long = definition(
      { steps: 2500, tokens: 9e9, costMicros: 9e12, toolCalls: 2500 },
      { context: { clearAtTokens: 50_000, keepResults: 3 } },
    );
    const start = play(runDecider, openTurn([['erp_get', { n: 0 }]], long)).state;
    let state = start;
    const facts: Fact[] = [];
    const steps = (from: number, to: number): number => {
      const started = process.cpuUsage();
      for (let turn = from; turn < to; turn++)
        for (const input of [
          authorized({ turn }),
          completed('succeeded', { turn }),
          says(turn + 1, 'x', [['erp_get', { n: turn }]]),
        ]) {
          const outputs = runDecider.decide(input, state);
          state = fold(runDecider, outputs, state);
          facts.push(...outputs);
        }
      return process.cpuUsage(started).user / (to - from);
    };
    steps(1, 300);
    const early = steps(300, 600);
    steps(600, 2000);
    expect(steps(2000, 2300)).toBeLessThan(early * 4 + 500);
    expect(facts.length).toBeGreaterThan(9000);
    const folded = [1, 2, 3].map(() => {
      const started = process.cpuUsage();
      const cold = fold(runDecider, facts, start);
      return { cold, ms: process.cpuUsage(started).user / 1000 };
    });
    expect(Math.min(...folded.map(({ ms }) => ms))).toBeLessThan(300);
    const cold = folded[0]?.cold;
    expect(json(toSnapshot(must(cold)))).toEqual(json(toSnapshot(must(state))));
  });
});

describe('view', () => {
  it('shows calls with verdict, rules and status, and all six budgets', () => {
    const state = must(play(runDecider, path).state);
    const view = runViewOf(state, state.nowMs + 500);
    expect(view).toMatchObject({
      state: 'awaiting',
      turn: 1,
      calls: [
        { tool: 'erp.post', arguments: { n: 1 }, verdict: 'authorized', rules: ['allow-1'], status: 'unknown' },
        { tool: 'erp.get', verdict: 'authorized', status: 'succeeded' },
      ],
      budget: {
        steps: { limit: 8, spent: 1, reserved: 0 },
        toolCalls: { spent: 1, reserved: 1 },
        wallMs: { spent: 2500 },
      },
    });
  });

  it('shows a run before its first turn', () => {
    expect(runViewOf(must(play(runDecider, [task()]).state), 0)).toMatchObject({
      state: 'preparing',
      turn: 0,
      calls: [],
    });
  });
});
