import { given } from '@lineclear/decider';
import { describe, expect, it } from 'vitest';
import { decide } from './decide.js';
import {
  cancel,
  definition,
  drop,
  modelEnds,
  openTurn,
  reasoning,
  reply,
  runDecider,
  says,
  seen,
  timer,
  tool,
  TOOLS,
  USAGE,
} from './run.mother.js';
import type { RunState } from './state.js';
import { modelRequestOf } from './view.js';

const asked = given(runDecider, ...reasoning());
const worst = asked.state?.modelCall?.reservation;

const lines = (state: RunState | undefined) => {
  const { steps, tokens, costMicros } = state?.ledger ?? {};
  return [steps, tokens, costMicros].map((line) => [line?.spent, line?.reserved]);
};

describe('reasoning', () => {
  it('reserves the worst case: the estimated input at the dearest price and the whole output', () => {
    expect(worst?.tokens).toBe((worst?.inputTokens ?? 0) + 100);
    expect(worst?.costMicros).toBe(Math.ceil((worst?.inputTokens ?? 0) * 1.25 + 100 * 4));
    expect(lines(asked.state)).toEqual([
      [0, 1],
      [0, worst?.tokens],
      [0, worst?.costMicros],
    ]);
  });

  it('reply without calls: answered', () => {
    const then = asked.when(says(1, 'done'));
    then.thenSeen(seen, ['model-call.completed 1.1 succeeded', 'run.finished answered']);
    expect(then.state?.finished).toEqual({ reason: 'the model answered', answer: 'done' });
    expect(lines(then.state)).toEqual([
      [1, 0],
      [110, 0],
      [140, 0],
    ]);
  });

  it('run.finished carries the totals', () => {
    const finished = asked.when(says(1, 'done')).outputs[1];
    expect(finished).toMatchObject({
      data: {
        inputs: [],
        answer: 'done',
        totals: {
          steps: 1,
          turns: 1,
          usage: USAGE,
          costMicros: 140,
          toolCalls: 0,
          approvals: 0,
          effects: 0,
          unknown: 0,
          wallMs: 2000,
          activeMs: 2000,
        },
      },
    });
  });

  it('reply with calls: each is proposed or refused, in index order', () => {
    const then = asked.when(
      says(1, 'x', [
        ['erp_get', { n: 1 }],
        ['erp_nope', {}],
        ['erp.post', { n: 2 }],
      ]),
    );
    then.thenSeen(seen, [
      'model-call.completed 1.1 succeeded',
      'tool-call.proposed 0 round 1',
      'tool-call.refused 1 unknown-tool',
      'tool-call.proposed 2 round 1',
    ]);
    expect(then.outputs[1]).toMatchObject({
      data: {
        tool: 'erp.get',
        definitionHash: 'hash-get',
        arguments: { n: 1 },
        stage: 'first',
        agent: { name: 'clerk', version: 1 },
        budget: { toolCalls: { limit: 20, spent: 0, reserved: 1 }, steps: { spent: 1, reserved: 0 } },
      },
    });
  });

  it('all calls refused: asks the model again at once', () => {
    const then = asked.when(says(1, 'x', [['erp_nope', {}]]));
    then.thenSeen(seen, [
      'model-call.completed 1.1 succeeded',
      'tool-call.refused 0 unknown-tool',
      'note model-call-reserved 2.1',
    ]);
    expect(then.state?.window.messages.toArray().map(({ role }) => role)).toEqual(['user', 'assistant', 'tool']);
  });

  it('reply with calls, next step not coverable: none is proposed, budget_stop', () => {
    const last = given(runDecider, ...reasoning(definition({ steps: 1 })));
    const then = last.when(
      says(1, 'so far so good', [
        ['erp_get', {}],
        ['erp_nope', {}],
      ]),
    );
    then.thenSeen(seen, [
      'model-call.completed 1.1 succeeded',
      'tool-call.refused 0 budget',
      'tool-call.refused 1 budget',
      'run.finished budget_stop',
    ]);
    expect(then.state?.finished).toEqual({
      reason: 'the budget of 1 steps is used up',
      findings: 'so far so good\n\nLast calls:\n- erp.get: refused\n- erp_nope: refused',
    });
  });

  it('S11: 400000 micros left and a worst case of 440000: the call is not made', () => {
    const costly = definition({ costMicros: 400_000 }, { maxOutputTokens: 110_000 });
    const then = given(runDecider, ...reasoning(costly).slice(0, 1)).when(reasoning(costly)[1] ?? never());
    then.thenSeen(seen, ['note toolset-fixed', 'run.finished budget_stop']);
    expect(then.state?.finished?.reason).toMatch(/^the 100000 tokens left of 100000 do not cover/);
    const rich = definition({ costMicros: 400_000, tokens: 10_000_000 }, { maxOutputTokens: 110_000 });
    expect(given(runDecider, ...reasoning(rich)).state?.finished?.reason).toBe(
      'the 400000 costMicros left of 400000 do not cover the worst case of the next step',
    );
  });

  it('S12: what a call did not need is free again at once', () => {
    const tight = definition({ tokens: 1000 });
    let { state } = given(runDecider, ...reasoning(tight));
    for (let step = 1; step <= 4; step++)
      state = decide(says(step, 'x', [['erp_nope', {}]], { ...USAGE, uncached: 5 }), state).state;
    expect(state?.stage).toBe('reasoning');
    expect(state?.ledger.tokens.spent).toBe(60);
  });

  it('malformed reply: costs its step and is asked for again', () => {
    const then = asked.when(modelEnds(1, { status: 'malformed', reason: 'glued calls', usage: USAGE }));
    then.thenSeen(seen, ['model-call.completed 1.1 malformed', 'note model-call-reserved 2.1']);
    expect(then.state?.window).toBe(asked.state?.window);
  });

  it.each([
    ['cut', { ...reply('x', [['erp_get', {}]]), stopReason: 'length' as const }],
    ['refusing with calls', { ...reply('x', [['erp_get', {}]]), stopReason: 'refusal' as const }],
    [
      'of 65 calls',
      reply(
        'x',
        Array.from({ length: 65 }, () => ['erp_get', {}] as const),
      ),
    ],
  ])('a reply %s is malformed: nothing of it is executed', (_, bad) => {
    asked
      .when(modelEnds(1, { status: 'succeeded', reply: bad, usage: USAGE }))
      .thenSeen(seen, ['model-call.completed 1.1 malformed', 'note model-call-reserved 2.1']);
  });

  it('a malformed reply at the last step: budget_stop', () => {
    given(runDecider, ...reasoning(definition({ steps: 1 })))
      .when(modelEnds(1, { status: 'malformed', reason: 'x' }))
      .thenSeen(seen, ['model-call.completed 1.1 malformed', 'run.finished budget_stop']);
  });

  it('lost attempt: settled at its full reservation, reserved anew, no step', () => {
    const then = asked.when(modelEnds(1, { status: 'lost' }));
    then.thenSeen(seen, ['model-call.completed 1.1 lost', 'note model-call-reserved 1.2']);
    expect(lines(then.state)).toEqual([
      [0, 1],
      [worst?.tokens, worst?.tokens],
      [worst?.costMicros, worst?.costMicros],
    ]);
    expect(then.outputs[0]).toMatchObject({ data: { usage: { estimated: true }, costMicros: worst?.costMicros } });
  });

  it('lost attempt, another not coverable: budget_stop', () => {
    const tokens = (worst?.tokens ?? 0) * 2 - 1;
    given(runDecider, ...reasoning(definition({ tokens })))
      .when(modelEnds(1, { status: 'lost' }))
      .thenSeen(seen, ['model-call.completed 1.1 lost', 'run.finished budget_stop']);
  });

  it('an attempt that was never sent costs nothing', () => {
    const then = asked.when(modelEnds(1, { status: 'not-dispatched' }));
    then.thenSeen(seen, ['model-call.completed 1.1 lost', 'note model-call-reserved 1.2']);
    expect(lines(then.state)).toEqual(lines(asked.state));
  });

  it('provider failure, retries spent: failed, the reservation returned', () => {
    const then = asked.when(modelEnds(1, { status: 'failed', reason: 'quota exhausted' }));
    then.thenSeen(seen, ['model-call.completed 1.1 failed', 'run.finished failed']);
    expect(lines(then.state)).toEqual([
      [0, 0],
      [0, 0],
      [0, 0],
    ]);
    expect(then.state?.finished?.reason).toBe('the model cannot be reached: quota exhausted');
  });

  it('the model declines: failed, a refusal is no answer', () => {
    asked
      .when(
        modelEnds(1, { status: 'succeeded', reply: { text: 'no', calls: [], stopReason: 'refusal' }, usage: USAGE }),
      )
      .thenSeen(seen, ['model-call.completed 1.1 succeeded', 'run.finished failed']);
  });

  it('cancel, wall timer, dropped input: aborts the call, charges it in full, ends', () => {
    for (const [input, end] of [
      [cancel(3), 'cancelled'],
      [timer('wall', 86_400), 'budget_stop'],
      [drop(3), 'failed'],
    ] as const) {
      const { facts, plan, state } = decide(input, asked.state);
      expect(facts.map(seen)).toEqual(['model-call.completed 1.1 lost', `run.finished ${end}`]);
      expect(plan).toContainEqual({ do: 'abort-job', jobId: asked.state?.modelCall?.jobId });
      expect(state?.ledger.tokens).toEqual({ limit: 100_000, spent: worst?.tokens, reserved: 0 });
    }
  });

  it('the result of a stale attempt is a no-op', () => {
    const { state } = given(runDecider, ...reasoning(), modelEnds(1, { status: 'lost' }));
    expect(decide(says(1, 'late'), state)).toMatchObject({ facts: [], remark: { kind: 'duplicate' } });
    expect(decide(says(2, 'early'), state)).toMatchObject({ facts: [], remark: { kind: 'duplicate' } });
  });

  it('B14: usage that nobody reports is charged as an estimate, never as nothing', () => {
    for (const outcome of [
      { status: 'succeeded', reply: reply('done') },
      { status: 'malformed', reason: 'x' },
    ] as const) {
      const completed = asked.when(modelEnds(1, outcome)).outputs[0];
      expect(completed).toMatchObject({ data: { usage: { estimated: true } } });
      expect(asked.when(modelEnds(1, outcome)).state?.totals.usage.uncached).toBeGreaterThan(10);
    }
  });

  it('more billed than reserved: the ledger ends at its limit, the totals tell the truth', () => {
    const huge = { ...USAGE, uncached: 9_000_000 };
    const then = asked.when(says(1, 'x', [['erp_get', {}]], huge));
    expect(then.state?.ledger.tokens).toEqual({ limit: 100_000, spent: 100_000, reserved: 0 });
    expect(then.state?.totals.usage.uncached).toBe(9_000_000);
    expect(then.state?.stage).toBe('budget_stop');
  });

  it('B09: ids in the window are ours, whatever the provider sent', () => {
    const { state } = given(
      runDecider,
      ...openTurn([
        ['erp_get', { n: 1 }],
        ['erp_get', { n: 2 }],
      ]),
    );
    const message = state?.window.messages.at(1);
    const ids = message?.role === 'assistant' ? message.calls.map(({ id }) => id) : [];
    expect(ids).toEqual([`${state?.runId}-1-0`, `${state?.runId}-1-1`]);
  });

  it('the request holds the prompt, the window and the usable tools', () => {
    const { state } = given(
      runDecider,
      ...reasoning(definition(), [...TOOLS, tool('off', {}, { status: 'disabled' })]),
    );
    const request = state === undefined ? undefined : modelRequestOf(state);
    expect(request).toMatchObject({ model: 'scripted/test', system: 'Post the invoice.', maxOutputTokens: 100 });
    expect(request?.messages).toEqual([{ role: 'user', text: 'Task:\n{"invoice":{"number":"INV-7"}}' }]);
    expect(request?.tools.map(({ alias }) => alias)).toEqual(['erp_get', 'erp_post', 'erp_poll', 'erp_send']);
  });
});

function never(): never {
  throw new Error('missing input');
}
