import { given } from '@lineclear/decider';
import { describe, expect, it } from 'vitest';
import { decide } from './decide.js';
import type { RunInput } from './input.js';
import {
  atSecond,
  authorized,
  cancel,
  completed,
  denied,
  drop,
  EPOCH_MS,
  granted,
  notApproved,
  openTurn,
  referred,
  resolved,
  runDecider,
  says,
  seen,
  timer,
} from './run.mother.js';
import { type RunState, statusOf } from './state.js';

const one = openTurn([['erp_post', { n: 1 }]]);
const two = openTurn([
  ['erp_post', { n: 1 }],
  ['erp_get', { n: 2 }],
]);

const open = given(runDecider, ...one);
const status = (state: RunState | undefined) => (state === undefined ? 'none' : statusOf(state));
const after = (...inputs: readonly RunInput[]) => given(runDecider, ...one, ...inputs);
const results = (state: RunState | undefined) =>
  state?.window.messages
    .toArray()
    .flatMap((message) => (message.role === 'tool' ? [`${message.outcome}: ${message.text}`] : []));

describe('open turn', () => {
  it('is gating while a call lacks a verdict, else executing while one is authorized, else awaiting', () => {
    const states = (...inputs: readonly RunInput[]) => status(given(runDecider, ...two, ...inputs).state);
    expect(states()).toBe('gating');
    expect(states(authorized())).toBe('gating');
    expect(states(authorized(), referred({ index: 1 }))).toBe('executing');
    expect(states(referred(), referred({ index: 1 }))).toBe('awaiting');
    expect(states(referred(), referred({ index: 1 }), granted())).toBe('gating');
    expect(states(authorized(), referred({ index: 1 }), completed())).toBe('awaiting');
  });

  it('authorized, referred, approval.granted: the phase moves, nothing is sent', () => {
    open.when(authorized()).thenSeen(seen, ['note call-authorized 0']);
    open.when(referred()).thenSeen(seen, ['note call-referred 0']);
    after(referred()).when(granted()).thenSeen(seen, ['note call-granted 0']);
    after(referred(), granted())
      .when(authorized({ stage: 'approved' }))
      .thenSeen(seen, ['note call-authorized 0']);
  });

  it('S18: edited arguments are kept, and the model is told what ran', () => {
    const { state } = after(referred(), granted(), authorized({ stage: 'approved' }, { n: 5 }));
    expect(state?.turn?.calls[0]).toMatchObject({
      arguments: { n: 5 },
      edited: true,
      digest: 'd-edited',
      stage: 'approved',
    });
    const done = after(
      referred(),
      granted(),
      authorized({ stage: 'approved' }, { n: 5 }),
      completed('succeeded', { stage: 'approved' }),
    );
    expect(results(done.state)).toEqual(['succeeded: An approver changed the arguments to {"n":5}.\nok']);
  });

  it('denied: a tool error with the reason, the model is asked again', () => {
    const then = open.when(denied());
    then.thenSeen(seen, ['note call-closed 0 denied', 'note model-call-reserved 2.1']);
    expect(results(then.state)).toEqual(['denied: Denied by policy: not allowed. Nothing was done.']);
  });

  it('denied at the second decision: a tool error', () => {
    after(referred(), granted())
      .when(denied({ stage: 'approved' }))
      .thenSeen(seen, ['note call-closed 0 denied', 'note model-call-reserved 2.1']);
  });

  it.each([
    ['approval.denied', 'denied: Denied by carol: too much. Nothing was done.'],
    ['approval.expired', 'expired: Nobody approved in time: too much. Nothing was done.'],
    ['approval.withdrawn', 'denied: The request for approval was withdrawn: too much. Nothing was done.'],
  ] as const)('%s: call closed, a tool error', (name, text) => {
    const then = after(referred()).when(notApproved(name));
    then.thenSeen(seen, [`note call-closed 0 ${text.split(':')[0]}`, 'note model-call-reserved 2.1']);
    expect(results(then.state)).toEqual([text]);
  });

  it('denied, terminal: failed at once if no other call is open', () => {
    const then = open.when(denied({}, true));
    then.thenSeen(seen, ['note call-closed 0 denied', 'run.finished failed']);
    expect(then.state?.finished?.reason).toBe('policy ended the run: not allowed');
  });

  it('denied, terminal, others open: stopping', () => {
    given(runDecider, ...two)
      .when(denied({}, true))
      .thenSeen(seen, ['note call-closed 0 denied', 'run.stop-started 1 failed']);
  });

  it.each(['succeeded', 'failed'] as const)('completed %s: call closed', (outcome) => {
    after(authorized())
      .when(completed(outcome, {}, outcome === 'failed' ? { reason: 'no such supplier' } : {}))
      .thenSeen(seen, [`note call-closed 0 ${outcome}`, 'note model-call-reserved 2.1']);
  });

  it('an empty result reads as such, a failure without text by its reason', () => {
    expect(results(after(authorized(), completed('succeeded', {}, { result: { text: '' } })).state)).toEqual([
      'succeeded: (no output)',
    ]);
    expect(results(after(authorized(), completed('failed', {}, { reason: 'timeout' })).state)).toEqual([
      'failed: timeout',
    ]);
  });

  it.each(['authorization-expired', 'policy-outdated'])(
    'not-dispatched %s: proposed again, round + 1, no step',
    (reason) => {
      const then = after(authorized()).when(completed('not-dispatched', {}, { reason }));
      then.thenSeen(seen, ['tool-call.proposed 0 round 2']);
      expect(then.outputs[0]).toMatchObject({
        data: { stage: 'first', arguments: { n: 1 }, digest: open.state?.turn?.calls[0]?.digest },
      });
      expect([status(then.state), then.state?.ledger.steps.spent]).toEqual(['gating', 1]);
      expect(then.state?.ledger.toolCalls.reserved).toBe(1);
    },
  );

  it('a new round keeps the edited arguments and names the grant', () => {
    const approved = [referred(), granted(), authorized({ stage: 'approved' }, { n: 5 })];
    const [proposed] = after(...approved).when(
      completed('not-dispatched', { stage: 'approved' }, { reason: 'authorization-expired' }),
    ).outputs;
    expect(proposed).toMatchObject({
      data: {
        round: 2,
        stage: 'first',
        arguments: { n: 5 },
        digest: 'd-edited',
        approvalId: expect.stringMatching(/^apr_/),
      },
    });
  });

  it('at most five rounds, then a tool error', () => {
    const rounds = [1, 2, 3, 4].flatMap((round) => [
      authorized({ round }),
      completed('not-dispatched', { round }, { reason: 'authorization-expired' }),
    ]);
    const fifth = after(...rounds, authorized({ round: 5 }));
    expect(fifth.state?.turn?.calls[0]?.round).toBe(5);
    const then = fifth.when(completed('not-dispatched', { round: 5 }, { reason: 'authorization-expired' }));
    then.thenSeen(seen, ['note call-closed 0 not-dispatched', 'note model-call-reserved 2.1']);
    expect(results(then.state)).toEqual([
      'not-dispatched: Not sent to the tool: authorization-expired. Nothing was done.',
    ]);
  });

  it('not-dispatched for another reason: a tool error', () => {
    after(authorized())
      .when(completed('not-dispatched', {}, { reason: 'tool-disabled' }))
      .thenSeen(seen, ['note call-closed 0 not-dispatched', 'note model-call-reserved 2.1']);
  });

  it('completed unknown: awaiting, with a timer of the tool', () => {
    const decision = decide(completed('unknown', { second: 3 }), after(authorized()).state);
    expect(decision.facts.map(seen)).toEqual(['note call-unknown 0']);
    expect(status(decision.state)).toBe('awaiting');
    expect(decision.plan).toContainEqual({ do: 'set-timer', name: 'unknown', dueAtMs: EPOCH_MS + 33_000 });
  });

  it('completed unknown, no wait: it is the result at once', () => {
    const then = given(runDecider, ...openTurn([['erp_send', {}]]), authorized()).when(
      completed('unknown', {}, { reason: 'timeout' }),
    );
    then.thenSeen(seen, ['note call-closed 0 unknown', 'note model-call-reserved 2.1']);
    expect(results(then.state)).toEqual([
      'unknown: The outcome is not known: timeout. It may have taken effect; do not count it as done, nor as not done.',
    ]);
  });

  it('resolved: the resolution is the result', () => {
    const unknown = after(authorized(), completed('unknown'));
    unknown.when(resolved('happened')).thenSeen(seen, ['note call-closed 0 succeeded', 'note model-call-reserved 2.1']);
    unknown
      .when(resolved('not-happened'))
      .thenSeen(seen, ['note call-closed 0 failed', 'note model-call-reserved 2.1']);
    expect(unknown.when(resolved('happened')).state?.totals).toMatchObject({ effects: 1, unknown: 0 });
  });

  it('the wait is over: unknown is the result, and the others wait on', () => {
    const both = given(
      runDecider,
      ...two,
      authorized(),
      authorized({ index: 1 }),
      completed('unknown', { second: 3 }),
      completed('unknown', { index: 1, second: 8 }),
    );
    const { facts, plan } = decide(timer('unknown', 33), both.state);
    expect(facts.map(seen)).toEqual(['note call-closed 0 unknown']);
    expect(plan).toEqual([{ do: 'set-timer', name: 'unknown', dueAtMs: EPOCH_MS + 38_000 }]);
  });

  it('last call closed, next step not coverable: budget_stop', () => {
    const huge = completed('succeeded', {}, { result: { text: 'x'.repeat(300_000) } });
    after(authorized()).when(huge).thenSeen(seen, ['note call-closed 0 succeeded', 'run.finished budget_stop']);
  });

  it('cancel, wall timer, active timer, dropped input: stopping', () => {
    open.when(cancel()).thenSeen(seen, ['run.stop-started 1 cancelled']);
    open.when(drop()).thenSeen(seen, ['run.stop-started 1 failed']);
    open.when(timer('wall', 86_400)).thenSeen(seen, ['run.stop-started 1 budget_stop']);
    open.when(timer('active', 600)).thenSeen(seen, ['run.stop-started 1 budget_stop']);
  });

  it('S46: the active clock stands while people are waited for, the wall clock does not', () => {
    const waiting = after(referred({ second: 10 }));
    const { plan } = decide(referred({ second: 10 }), open.state);
    expect(plan).toEqual([{ do: 'clear-timer', name: 'active' }]);
    expect(waiting.state?.active).toEqual({ spentMs: 10_000, sinceMs: undefined });
    const threeDays = 3 * 86_400;
    const back = decide(granted({ second: threeDays }), waiting.state);
    expect(back.plan).toEqual([{ do: 'set-timer', name: 'active', dueAtMs: EPOCH_MS + (threeDays + 590) * 1000 }]);
    expect(decide(timer('active', 600), waiting.state).facts).toEqual([]);
  });

  it('labels of results join the label of the run, which the next proposal carries', () => {
    const secret = completed('succeeded', {}, { label: { confidentiality: 'restricted', integrity: 'untrusted' } });
    const { outputs } = after(authorized(), secret).when(says(2, 'x', [['erp_get', {}]]));
    expect(outputs[1]).toMatchObject({ data: { label: { confidentiality: 'restricted', integrity: 'untrusted' } } });
  });

  it('every event lists the inputs since the one before, in order', () => {
    const inputs = [authorized(), completed()];
    const [next] = after(...inputs).when(says(2, 'done')).outputs;
    expect(next).toMatchObject({
      data: { inputs: [{ id: inputs[0]?.id }, { id: inputs[1]?.id }, { kind: 'job', at: atSecond(2) }] },
    });
  });
});

describe('S07: order, duplicates, other payloads', () => {
  it('the same answer again changes nothing, at every phase', () => {
    const path = [
      referred(),
      granted(),
      authorized({ stage: 'approved' }),
      completed('unknown', { stage: 'approved' }),
    ];
    for (let length = 1; length <= path.length; length++) {
      const { state } = after(...path.slice(0, length));
      for (const input of path.slice(0, length))
        expect(decide(input, state)).toMatchObject({ facts: [], state, remark: { kind: 'duplicate' } });
    }
  });

  it('the same payload under another id is the same answer', () => {
    const { state } = after(authorized({ id: 'first' }));
    expect(decide(authorized({ id: 'second' }), state)).toMatchObject({ facts: [], remark: { kind: 'duplicate' } });
  });

  it('another payload for an answered slot is refused and recorded, once', () => {
    const { state } = after(authorized());
    const forged = denied();
    const decision = decide(forged, state);
    expect(decision.facts.map(seen)).toEqual(['note violation 0']);
    expect(decision.remark).toEqual({
      kind: 'violation',
      what: 'tool-call.denied repeats an answered slot with another payload',
    });
    expect(decision.state?.turn).toEqual(state?.turn);
    expect(decide(forged, decision.state).facts).toEqual([]);
  });

  it('answers of an earlier turn or round are no-ops; to a call or round never proposed they are violations', () => {
    const second = after(authorized(), completed('not-dispatched', {}, { reason: 'policy-outdated' }));
    expect(decide(authorized(), second.state).remark?.kind).toBe('duplicate');
    expect(decide(authorized({ round: 3 }), second.state).remark?.kind).toBe('violation');
    expect(decide(authorized({ index: 7 }), second.state).remark?.kind).toBe('violation');
    const nextTurn = after(denied());
    expect(decide(completed(), nextTurn.state).remark?.kind).toBe('late');
    const third = given(runDecider, ...one, denied(), says(2, 'x', [['erp_get', {}]]));
    expect(decide(completed(), third.state)).toMatchObject({ facts: [], remark: { kind: 'duplicate' } });
  });

  const permutations = <T>(items: readonly T[]): T[][] =>
    items.length <= 1
      ? [[...items]]
      : items.flatMap((item, i) => permutations(items.toSpliced(i, 1)).map((rest) => [item, ...rest]));

  it('answers in any order of topics end like the ordered ones', () => {
    const answers = [
      referred(),
      granted(),
      authorized({ stage: 'approved' }),
      completed('succeeded', { stage: 'approved' }),
    ];
    const ordered = after(...answers).state;
    for (const shuffled of permutations(answers)) {
      const { state } = after(...shuffled);
      expect(results(state)).toEqual(results(ordered));
      expect([state?.stage, state?.ledger, state?.turn?.calls[0]?.approvalId]).toEqual([
        ordered?.stage,
        ordered?.ledger,
        ordered?.turn?.calls[0]?.approvalId,
      ]);
    }
  });

  it('an early input is kept, recorded, and not taken twice', () => {
    const early = completed();
    const kept = open.when(early);
    kept.thenSeen(seen, ['note input-kept 0']);
    expect(decide(early, kept.state)).toMatchObject({ facts: [], remark: { kind: 'duplicate' } });
    after(early)
      .when(authorized())
      .thenSeen(seen, ['note call-authorized 0', 'note call-closed 0 succeeded', 'note model-call-reserved 2.1']);
  });

  it('early inputs of an older round are void in the next', () => {
    const early = resolved('happened');
    const { state } = after(early, authorized(), completed('not-dispatched', {}, { reason: 'policy-outdated' }));
    expect(state?.turn?.calls[0]).toMatchObject({ round: 2, early: [], phase: 'proposed' });
  });
});

describe('B21, S20, B22: parallel calls', () => {
  const three = openTurn([
    ['erp_post', { n: 1 }],
    ['erp_post', { n: 2 }],
    ['erp_get', { n: 3 }],
  ]);
  /** Approved and done, or rejected. */
  const endings = [
    (index: number): RunInput[] => [
      referred({ index }),
      granted({ index }),
      authorized({ index, stage: 'approved' }),
      completed('succeeded', { index, stage: 'approved' }),
    ],
    (index: number): RunInput[] => [referred({ index }), notApproved('approval.denied', { index })],
  ];

  it('B21: all 2^3 decisions, in both orders of arrival: one result each, in order', () => {
    for (let choice = 0; choice < 8; choice++) {
      const chosen = [0, 1, 2].map((index) => (choice >> index) & 1);
      const lanes = chosen.map((end, index) => endings[end]?.(index) ?? []);
      for (const order of [lanes, lanes.toReversed()]) {
        const { state } = given(runDecider, ...three, ...order.flat());
        expect(results(state)?.map((text) => text.split(':')[0])).toEqual(
          chosen.map((end) => (end === 0 ? 'succeeded' : 'denied')),
        );
        expect(state?.totals.effects).toBe([0, 1].filter((index) => chosen[index] === 0).length);
        expect(state?.stage).toBe('reasoning');
      }
    }
  });

  it('S20: allowed, approved, denied, pending: the pending one keeps only itself waiting', () => {
    const four = openTurn([
      ['erp_get', { n: 1 }],
      ['erp_post', { n: 2 }],
      ['erp_post', { n: 3 }],
      ['erp_post', { n: 4 }],
    ]);
    const answers = [
      authorized(),
      completed(),
      ...(endings[0]?.(1) ?? []),
      denied({ index: 2 }),
      referred({ index: 3 }),
    ];
    const waiting = given(runDecider, ...four, ...answers);
    expect(waiting.state?.turn?.calls.map(({ outcome }) => outcome)).toEqual([
      'succeeded',
      'succeeded',
      'denied',
      undefined,
    ]);
    expect(results(waiting.state)).toEqual([]);
    const then = waiting.when(notApproved('approval.expired', { index: 3 }));
    expect(results(then.state)).toHaveLength(4);
    then.thenSeen(seen, ['note call-closed 3 expired', 'note model-call-reserved 2.1']);
  });

  it('B22: approving twice and redelivering change nothing', () => {
    const grant = granted();
    const path = [referred(), grant, authorized({ stage: 'approved' })];
    const { state } = given(
      runDecider,
      ...two,
      authorized({ index: 1 }),
      completed('succeeded', { index: 1 }),
      ...path,
    );
    for (let i = 0; i < 5; i++) expect(decide(grant, state)).toMatchObject({ facts: [], state });
    expect(decide(granted({ id: 'other-tab' }), state).facts).toEqual([]);
  });

  it('S19: a call that was referred anew in a later round waits for its own grant', () => {
    const anew = [
      referred(),
      granted(),
      authorized({ stage: 'approved' }),
      completed('not-dispatched', { stage: 'approved' }, { reason: 'policy-outdated' }),
      referred({ round: 2 }),
    ];
    const { state } = after(...anew);
    expect(status(state)).toBe('awaiting');
    expect(decide(granted(), state)).toMatchObject({ facts: [] });
    expect(status(after(...anew, granted({ round: 2 })).state)).toBe('gating');
  });
});
