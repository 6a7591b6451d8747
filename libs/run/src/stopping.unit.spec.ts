import { given } from '@lineclear/decider';
import { describe, expect, it } from 'vitest';
import { decide } from './decide.js';
import type { RunInput } from './input.js';
import {
  authorized,
  cancel,
  completed,
  denied,
  drop,
  EPOCH_MS,
  fenced,
  granted,
  modelEnds,
  notApproved,
  openTurn,
  recalled,
  referred,
  resolved,
  runDecider,
  says,
  seen,
  timer,
  toolset,
} from './run.mother.js';
import type { RunState } from './state.js';

const two = openTurn([
  ['erp_post', { n: 1 }],
  ['erp_get', { n: 2 }],
]);
const stopped = (...before: readonly RunInput[]) => given(runDecider, ...two, ...before, cancel(5));
const results = (state: RunState | undefined) => state?.turn?.calls.map(({ outcome }) => outcome ?? 'open');

describe('stopping', () => {
  it('names target, reason and who; the stop timer replaces the others', () => {
    const { facts, plan, answer } = decide(cancel(5, 'wrong file'), given(runDecider, ...two).state);
    expect(facts).toMatchObject([
      { data: { n: 1, target: 'cancelled', reason: 'cancelled by `bob`: wrong file', by: 'bob' } },
    ]);
    expect(plan).toEqual([
      { do: 'clear-timer', name: 'wall' },
      { do: 'clear-timer', name: 'active' },
      { do: 'set-timer', name: 'stop', dueAtMs: EPOCH_MS + 15_000 },
    ]);
    expect(answer).toMatchObject({ ok: true, value: { state: 'stopping' } });
  });

  it('S25: an early completion closes its call; a call in reconciliation closes as unknown', () => {
    const early = given(runDecider, ...two, completed());
    early.when(cancel(5)).thenSeen(seen, ['run.stop-started 1 cancelled', 'note call-closed 0 succeeded']);
    const unknown = given(runDecider, ...two, authorized(), completed('unknown'));
    unknown.when(cancel(5)).thenSeen(seen, ['run.stop-started 1 cancelled', 'note call-closed 0 unknown']);
  });

  it('run.fenced: settled ones close by their status, unlisted ones are refused, then the run ends', () => {
    const then = stopped(authorized()).when(fenced(1, [], [[0, 'succeeded']]));
    then.thenSeen(seen, [
      'note fence-noted',
      'note call-closed 0 succeeded',
      'tool-call.refused 1 run-stopped',
      'run.finished cancelled',
    ]);
    expect(results(then.state)).toEqual(['succeeded', 'cancelled']);
    expect(then.state?.totals.effects).toBe(1);
    expect(then.state?.ledger.toolCalls).toEqual({ limit: 20, spent: 1, reserved: 0 });
  });

  it.each([
    ['failed', 'failed'],
    ['unknown', 'unknown'],
    ['not-dispatched', 'cancelled'],
  ] as const)('run.fenced: settled as %s reads as %s', (status, outcome) => {
    expect(results(stopped().when(fenced(1, [], [[0, status]])).state)).toEqual([outcome, 'cancelled']);
  });

  it('run.fenced with listed calls: waits for them', () => {
    const fence = stopped(authorized()).when(fenced(1, [0]));
    fence.thenSeen(seen, ['note fence-noted', 'tool-call.refused 1 run-stopped']);
    expect(fence.state?.stage).toBe('stopping');
  });

  it.each([
    ['succeeded', 'succeeded'],
    ['failed', 'failed'],
    ['unknown', 'unknown'],
    ['not-dispatched', 'cancelled'],
  ] as const)('completed %s: closes its call as %s, and ends the run once it is fenced', (status, outcome) => {
    const reason = status === 'not-dispatched' ? { reason: 'authorization-expired' } : {};
    const fence = stopped(authorized(), fenced(1, [0]));
    const then = stopped(authorized()).when(completed(status, { second: 7 }, reason));
    then.thenSeen(seen, [`note call-closed 0 ${outcome}`]);
    expect(fence.state?.stop?.fencedN).toBe(0);
    given(runDecider, ...two, authorized(), cancel(5), fenced(1, [0]))
      .when(completed(status, { second: 7 }, reason))
      .thenSeen(seen, [`note call-closed 0 ${outcome}`, 'run.finished cancelled']);
  });

  it('all closed, but not fenced: waits for run.fenced', () => {
    const { state } = given(runDecider, ...two, cancel(5), completed(), completed('succeeded', { index: 1 }));
    expect(state?.stage).toBe('stopping');
    given(runDecider, ...two, cancel(5), completed(), completed('succeeded', { index: 1 }))
      .when(fenced(1))
      .thenSeen(seen, ['note fence-noted', 'run.finished cancelled']);
  });

  it('a completion counts whatever the phase of its call was', () => {
    stopped(referred())
      .when(completed('not-dispatched', {}, { reason: 'run-stopped' }))
      .thenSeen(seen, ['note call-closed 0 cancelled']);
  });

  it('timer 10 s: run.stop-started, n + 1, and the timer again', () => {
    const { facts, plan } = decide(timer('stop', 15), stopped().state);
    expect(facts.map(seen)).toEqual(['run.stop-started 2 cancelled']);
    expect(plan).toEqual([{ do: 'set-timer', name: 'stop', dueAtMs: EPOCH_MS + 25_000 }]);
  });

  it('a stop timer that comes too early changes nothing', () => {
    const { facts, plan } = decide(timer('stop', 14), stopped().state);
    expect([facts, plan]).toEqual([[], [{ do: 'set-timer', name: 'stop', dueAtMs: EPOCH_MS + 15_000 }]]);
  });

  it('an answer to an older n, or the same again, changes nothing', () => {
    const { state } = given(runDecider, ...two, authorized(), cancel(5), timer('stop', 15), fenced(2, [0]));
    expect(decide(fenced(1, []), state)).toMatchObject({ facts: [], remark: { kind: 'duplicate' } });
    expect(decide(fenced(2, []), state)).toMatchObject({ facts: [], remark: { kind: 'duplicate' } });
    expect(decide(fenced(3, []), state).facts.map(seen)).toEqual([
      'note fence-noted',
      'tool-call.refused 0 run-stopped',
      'run.finished cancelled',
    ]);
  });

  it('a dropped input: asks the registry again', () => {
    stopped().when(drop(6)).thenSeen(seen, ['run.stop-started 2 cancelled']);
  });

  it.each<[string, RunInput]>([
    ['a verdict', authorized({ index: 1 })],
    ['a denial', denied({ index: 1 }, true)],
    ['a referral', referred({ index: 1 })],
    ['a grant', granted({ index: 1 })],
    ['a withdrawal', notApproved('approval.withdrawn', { index: 1 })],
    ['a resolution', resolved('happened', { index: 1 })],
    ['a cancel', cancel(6)],
  ])('%s: recorded as late', (_, input) => {
    const then = stopped().when(input);
    then.thenSeen((fact) => seen(fact).replace(' 1', ''), ['note late']);
    expect(then.state?.pending.map(({ id }) => id)).toEqual([input.id]);
    expect(results(then.state)).toEqual(['open', 'open']);
  });

  it.each<[string, RunInput]>([
    ['a result of a model call', says(2, 'x')],
    ['a recall', recalled()],
    ['the toolset again', toolset()],
    ['a wall timer', timer('wall', 86_400)],
    ['an unknown timer', timer('unknown', 99)],
  ])('%s: a no-op', (_, input) => {
    expect(decide(input, stopped().state).facts).toEqual([]);
  });

  it('denied, terminal: the target is failed', () => {
    const { state } = given(runDecider, ...two, denied({}, true), fenced(1));
    expect([state?.stage, state?.finished?.reason]).toEqual(['failed', 'policy ended the run: not allowed']);
  });
});

describe('terminal', () => {
  const ended = given(runDecider, ...two, authorized(), cancel(5), fenced(1, [0]), completed('failed', { second: 7 }));

  it('has ended once, with every call closed', () => {
    expect(ended.state?.stage).toBe('cancelled');
    expect(results(ended.state)).toEqual(['failed', 'cancelled']);
  });

  it('a cancel is answered 409', () => {
    const { facts, answer } = decide(cancel(9), ended.state);
    expect(facts).toEqual([]);
    expect(answer).toMatchObject({ ok: false, failure: { code: 'already-ended', details: { state: 'cancelled' } } });
  });

  it('S26: an answer that comes late is recorded once and changes no result', () => {
    const late = authorized({ index: 1, second: 8 });
    const { facts, state } = decide(late, ended.state);
    expect(facts.map(seen)).toEqual(['note late 1']);
    expect([state?.stage, results(state), state?.nowMs]).toEqual([
      'cancelled',
      ['failed', 'cancelled'],
      ended.state?.nowMs,
    ]);
    expect(decide(late, state)).toMatchObject({ facts: [], remark: { kind: 'duplicate' } });
  });

  it('a duplicate or another payload changes nothing', () => {
    expect(decide(completed('failed', { second: 7 }), ended.state)).toMatchObject({
      facts: [],
      remark: { kind: 'duplicate' },
    });
    expect(decide(completed('succeeded'), ended.state)).toMatchObject({ facts: [], remark: { kind: 'violation' } });
    expect(decide(completed('succeeded', { turn: 9 }), ended.state)).toMatchObject({ facts: [] });
  });

  it.each<[string, RunInput]>([
    ['model call', modelEnds(2, { status: 'lost' })],
    ['timer', timer('wall', 86_400)],
    ['fence', fenced(9)],
    ['toolset', toolset()],
    ['recall', recalled()],
  ])('a %s changes nothing', (_, input) => {
    expect(decide(input, ended.state)).toMatchObject({
      facts: [],
      plan: [],
      state: ended.state,
      remark: { kind: 'late' },
    });
  });
});
