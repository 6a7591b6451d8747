import { given } from '@lineclear/decider';
import { describe, expect, it } from 'vitest';
import {
  type Asked,
  authorized,
  cancel,
  completed,
  definition,
  denied,
  notApproved,
  openTurn,
  reasoning,
  referred,
  resolved,
  runDecider,
  says,
  seen,
  timer,
  tool,
  TOOLS,
} from './run.mother.js';
import type { Fact } from './fact.js';
import type { RunInput } from './input.js';

/** What became of the calls of one reply: `proposed`, or `reason: message`. */
const gated = (facts: readonly Fact[]): string[] =>
  facts.flatMap((fact) => {
    if (fact.kind !== 'event') return [];
    if (fact.name === 'tool-call.proposed') return ['proposed'];
    return fact.name === 'tool-call.refused' ? [`${fact.data.reason}: ${fact.data.message}`] : [];
  });

const gate = (...calls: readonly Asked[]): string[] =>
  gated(given(runDecider, ...reasoning()).when(says(1, 'x', calls)).outputs);

describe('tool names', () => {
  it('B24: only the alias or the canonical name, exactly', () => {
    expect(gate(['erp_get', {}], ['erp.get', { n: 1 }])).toEqual(['proposed', 'proposed']);
    for (const name of [
      'ERP_get',
      'erp_get ',
      ' erp_get',
      'mcp__erp_get',
      'get',
      '',
      '__proto__',
      'constructor',
      'erp/get',
    ])
      expect(gate([name, {}])[0]).toMatch(/^unknown-tool: There is no tool/);
  });

  it('names the nearest tools, else all', () => {
    expect(gate(['erp_gte', {}])).toEqual(['unknown-tool: There is no tool `erp_gte`. Nearest: `erp_get`.']);
    expect(gate(['weather', {}])).toEqual([
      'unknown-tool: There is no tool `weather`. There are: `erp_get`, `erp_post`, `erp_poll`, `erp_send`.',
    ]);
  });

  it('B24: a tool that is not available is refused, although it exists', () => {
    const tools = [...TOOLS, tool('off', {}, { status: 'disabled', reason: 'audit' })];
    const facts = given(runDecider, ...reasoning(definition(), tools)).when(says(1, 'x', [['erp_off', {}]])).outputs;
    expect(gated(facts)).toEqual(['unknown-tool: `erp_off` is disabled: audit.']);
  });

  it('cuts a very long name', () => {
    expect(gate(['x'.repeat(5000), {}])[0]?.length).toBeLessThan(400);
  });
});

describe('arguments', () => {
  it('B01: no text is no arguments', () => {
    expect(gate(['erp_get', ''], ['erp_post', 'null'])).toEqual(['proposed', 'proposed']);
  });

  it('all problems of a call in one message', () => {
    expect(gate(['erp_get', { n: '5', m: 1 }])).toEqual([
      'invalid: `erp_get` was not executed; correct its arguments:\n' +
        '- `m` is not an argument of this tool; did you mean `n`?\n' +
        '- `n`: expected integer, seen string `"5"`',
    ]);
  });

  it('B02, B06: text that is no exact JSON object is refused', () => {
    expect(gate(['erp_get', '{"n":1}{"n":1}'])[0]).toMatch(/^invalid: .*\n- the arguments are not valid JSON/);
    expect(gate(['erp_get', '{"n":9007199254740993}'])[0]).toMatch(/send it as a string/);
  });

  it('a tool whose schema cannot be used is not called', () => {
    const bad = tool('bad', {}, { schema: { type: 'object', properties: { a: { $ref: 'http://x/y' } } } });
    const facts = given(runDecider, ...reasoning(definition(), [bad])).when(says(1, 'x', [['erp_bad', {}]])).outputs;
    expect(gated(facts)[0]).toMatch(/^invalid: `erp_bad` cannot be called, its schema is not usable: reference/);
  });
});

describe('tool call budget', () => {
  it('calls reserve in index order; those not covered are refused', () => {
    const asked = given(runDecider, ...reasoning(definition({ toolCalls: 2 })));
    const then = asked.when(
      says(1, 'x', [
        ['erp_get', { n: 1 }],
        ['erp_nope', {}],
        ['erp_get', { n: 2 }],
        ['erp_get', { n: 3 }],
      ]),
    );
    expect(gated(then.outputs)).toEqual([
      'proposed',
      expect.stringMatching(/^unknown-tool/),
      'proposed',
      'budget: Not executed: the budget of 2 toolCalls is used up.',
    ]);
    expect(then.state?.ledger.toolCalls).toEqual({ limit: 2, spent: 0, reserved: 2 });
  });

  it('a call that never reached its tool gives its share back', () => {
    const { state } = given(
      runDecider,
      ...openTurn([
        ['erp_get', {}],
        ['erp_post', {}],
      ]),
      denied(),
      authorized({ index: 1 }),
      completed('failed', { index: 1 }),
    );
    expect(state?.ledger.toolCalls).toEqual({ limit: 20, spent: 1, reserved: 0 });
  });
});

describe('S15, B17: repeated calls', () => {
  const get: Asked = ['erp_get', { n: 1 }];
  const post: Asked = ['erp_post', { n: 1 }];
  const run = (ref: { turn?: number; index?: number } = {}): RunInput[] => [
    authorized(ref),
    completed('succeeded', ref),
  ];

  const asking = (before: readonly RunInput[], step: number, ...calls: readonly Asked[]): string[] =>
    gated(given(runDecider, ...before).when(says(step, 'again', calls)).outputs);

  it('the same call in a later turn is refused, with a text that says so', () => {
    expect(asking([...openTurn([get]), ...run()], 2, get)).toEqual([
      'repeated: `erp_get` was called with exactly these arguments in turn 1 and nothing has changed since; that result stands. Use it, or change the arguments.',
    ]);
  });

  it('canonical arguments count: order of keys and spelling of numbers do not matter', () => {
    expect(asking([...openTurn([['erp.get', '{"n":1}']]), ...run()], 2, ['erp_get', ' { "n" : 1.0 } '])[0]).toMatch(
      /^repeated/,
    );
    expect(asking([...openTurn([get]), ...run()], 2, ['erp_get', { n: 2 }])).toEqual(['proposed']);
  });

  it('twice in one reply: executed once', () => {
    expect(gate(get, get)).toEqual([
      'proposed',
      'repeated: `erp_get` is asked for twice in this reply with exactly these arguments; it is executed once.',
    ]);
  });

  it('a repeatable tool is exempt', () => {
    const poll: Asked = ['erp_poll', {}];
    expect(gate(poll, poll)).toEqual(['proposed', 'proposed']);
    expect(asking([...openTurn([poll]), ...run()], 2, poll)).toEqual(['proposed']);
  });

  it('a settled write in between lets reads be repeated, but not the write itself', () => {
    const before = [...openTurn([get]), ...run(), says(2, 'x', [post]), ...run({ turn: 2 })];
    expect(asking(before, 3, get, post)).toEqual(['proposed', expect.stringMatching(/^repeated/)]);
  });

  it('a write that was answered from the effect ledger changed nothing', () => {
    const before = [...openTurn([get]), ...run(), says(2, 'x', [post]), authorized({ turn: 2 })];
    const deduplicated = completed('succeeded', { turn: 2 }, { deduplicated: true });
    expect(asking([...before, deduplicated], 3, get)[0]).toMatch(/^repeated/);
  });

  it('a failure may be repeated when it was retryable, else not', () => {
    const failing = (retryable: boolean) => [...openTurn([get]), authorized(), completed('failed', {}, { retryable })];
    expect(asking(failing(true), 2, get)).toEqual(['proposed']);
    expect(asking(failing(false), 2, get)[0]).toMatch(/^repeated/);
  });

  it('a denied call repeated is refused, whoever denied it', () => {
    expect(asking([...openTurn([post]), denied()], 2, post)[0]).toMatch(/^repeated/);
    for (const name of ['approval.denied', 'approval.expired', 'approval.withdrawn'] as const)
      expect(asking([...openTurn([post]), referred(), notApproved(name)], 2, post)[0]).toMatch(/^repeated/);
  });

  describe('after an unknown outcome', () => {
    const unknown = [...openTurn([post]), authorized(), completed('unknown'), timer('unknown', 31)];
    const write: Asked = ['erp_send', {}];

    it('is refused, also after another write, until it is resolved', () => {
      expect(asking(unknown, 2, post)[0]).toMatch(/outcome is not known; it is not sent again until that is resolved/);
      const later = [...unknown, says(2, 'x', [write]), ...run({ turn: 2 })];
      expect(asking(later, 3, post)[0]).toMatch(/outcome is not known/);
    });

    it('may be tried again when it is found not to have happened, not when it has', () => {
      expect(asking([...unknown, resolved('not-happened')], 2, post)).toEqual(['proposed']);
      expect(asking([...unknown, resolved('happened')], 2, post)[0]).toMatch(/^repeated/);
    });

    it('the late resolution is recorded in the inputs of the next event', () => {
      const resolution = resolved('not-happened');
      const [next] = given(runDecider, ...unknown, resolution).when(says(2, 'done')).outputs;
      const inputs = next?.kind === 'event' && next.name === 'model-call.completed' ? next.data.inputs : [];
      expect(inputs.slice(-2)).toMatchObject([{ kind: 'event', id: resolution.id }, { kind: 'job' }]);
    });
  });

  it('a read whose result was cleared from the context may be repeated', () => {
    const small = definition({}, { context: { clearAtTokens: 900, keepResults: 0 } });
    const long = (turn: number) => [
      authorized({ turn }),
      completed('succeeded', { turn }, { result: { text: 'x'.repeat(2000) } }),
    ];
    const before = [...openTurn([get], small), ...long(1), says(2, 'x', [['erp_get', { n: 2 }]]), ...long(2)];
    const { state } = given(runDecider, ...before);
    expect(state?.window.messages.at(2)).toMatchObject({ cleared: true });
    expect(asking(before, 3, get)).toEqual(['proposed']);
    expect(asking(before, 3, ['erp_get', { n: 2 }])[0]).toMatch(/^repeated/);
  });

  it('the context is cleared before the next request, and an event says so', () => {
    const small = definition({}, { context: { clearAtTokens: 900, keepResults: 0 } });
    const long = (turn: number) => completed('succeeded', { turn }, { result: { text: 'x'.repeat(2000) } });
    given(
      runDecider,
      ...openTurn([get], small),
      authorized(),
      long(1),
      says(2, 'x', [['erp_get', { n: 2 }]]),
      authorized({ turn: 2 }),
    )
      .when(long(2))
      .thenSeen(seen, ['note call-closed 0 succeeded', 'context.cleared 1', 'note model-call-reserved 3.1']);
  });

  it('a stopped run proposes nothing more', () => {
    expect(gated(given(runDecider, ...reasoning(), cancel(3)).when(says(1, 'x', [get])).outputs)).toEqual([]);
  });
});
