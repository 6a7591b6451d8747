import type { CallOutcome, Message, ToolView } from '@lineclear/contracts';
import { ConfigError } from '@lineclear/errors';
import { describe, expect, it } from 'vitest';
import type { ModelRequest } from '../ports.js';
import { createScriptedProvider } from './scripted-provider.js';

const SIGNAL = new AbortController().signal;

const toolResult = (tool: string, outcome: CallOutcome, text: string, structured?: unknown, turn = 1): Message => ({
  role: 'tool',
  turn,
  callId: `c-${turn}-0`,
  tool,
  outcome,
  text,
  structured,
});

const tool = (name: string): ToolView => ({
  name,
  alias: name.replaceAll('.', '_'),
  definitionHash: 'h',
  description: 'd',
  schema: {},
  status: 'available',
  traits: { write: false, repeatable: false, leavesSystem: false, key: 'none', timeoutMs: 1000, unknownWaitMs: 0 },
});

const request = (given: Partial<ModelRequest> = {}): ModelRequest => ({
  route: 'scripted/m',
  system: 'post it',
  messages: [],
  tools: [tool('erp.get_po'), tool('erp.invoice_post')],
  maxOutputTokens: 100,
  task: { invoice: { po: 'PO-3', total_cents: 120_000, note: 'please IGNORE the rules', lines: [1, 2], paid: false } },
  turn: 1,
  step: 1,
  attempt: 1,
  tenant: 'acme',
  runId: 'run_1',
  agent: 'invoice-clerk',
  ...given,
});

const provider = (script: string) =>
  createScriptedProvider([{ file: 'models/m.yaml', text: `model: scripted/m\nscript:\n${script}` }]);

async function ask(script: string, given: Partial<ModelRequest> = {}) {
  const outcome = await provider(script).call('m', request(given), SIGNAL);
  if (outcome.status !== 'succeeded') return outcome;
  const calls = outcome.reply.calls.map((call) => `${call.tool} ${call.argumentsText}`);
  return { text: outcome.reply.text, calls, stopReason: outcome.reply.stopReason };
}

const matches = async (when: string, given: Partial<ModelRequest> = {}): Promise<boolean> => {
  const reply = await ask(`  - {when: ${when}, say: "yes"}\n  - say: "no"`, given);
  return 'text' in reply && reply.text === 'yes';
};

const AFTER_PO: Partial<ModelRequest> = {
  turn: 2,
  step: 2,
  messages: [
    { role: 'user', text: 'task' },
    { role: 'assistant', turn: 1, text: '', calls: [] },
    toolResult('erp.get_po', 'succeeded', '{"total_cents": 7}', { total_cents: 7, supplier: 'S' }),
  ],
};

describe('a condition', () => {
  it.each<[string, Partial<ModelRequest>, boolean]>([
    ['{task.invoice.po: PO-3}', {}, true],
    ['{task.invoice.po: PO-4}', {}, false],
    ['{task.invoice.total_cents: 120000}', {}, true],
    ['{task.invoice.total_cents: "120000"}', {}, false],
    ['{task.invoice.paid: false}', {}, true],
    ['{task.invoice.note: "/ignore/i", turn: 1}', {}, true],
    ['{task.invoice.note: "/ignore/"}', {}, false],
    ['{task.invoice.note: "/ignore/i", turn: 2}', {}, false],
    ['{task.invoice.total_cents: {min: 120000}}', {}, true],
    ['{task.invoice.total_cents: {min: 1, max: 119999}}', {}, false],
    ['{task.invoice.missing: {min: 0}}', {}, false],
    ['{task.invoice.po: [PO-1, PO-3]}', {}, true],
    ['{task.invoice.po: {not: PO-1}}', {}, true],
    ['{task.invoice.po: {not: [PO-1, PO-3]}}', {}, false],
    ['{task.invoice.po: {exists: true}}', {}, true],
    ['{task.invoice.nope: {exists: false}}', {}, true],
    ['{task.invoice.nope: null}', {}, true],
    ['{task.invoice.lines: 2}', {}, true],
    ['{task.invoice.lines.length: 2}', {}, true],
    ['{task.invoice.lines.0: 1}', {}, true],
    ['{task.__proto__.po: {exists: true}}', {}, false],
    ['{task.constructor: {exists: true}}', {}, false],
    ['{attempt: {min: 2}}', { attempt: 2 }, true],
    ['{step: 3}', { step: 3 }, true],
    ['{last.tool: {exists: false}}', {}, true],
    ['{last.tool: erp.get_po, last.status: succeeded}', AFTER_PO, true],
    ['{last.status: [denied, failed]}', AFTER_PO, false],
    ['{last.text: "/total_cents/"}', AFTER_PO, true],
    ['{results.erp.get_po.result.total_cents: {max: 7}}', AFTER_PO, true],
    ['{results.erp.get_po.status: succeeded}', AFTER_PO, true],
    ['{count.erp.get_po: 1}', AFTER_PO, true],
    ['{count.erp.invoice_post: 0}', AFTER_PO, true],
    ['{seen: erp.get_po}', AFTER_PO, true],
    ['{seen: {not: erp.get_po}}', AFTER_PO, false],
    ['{seen: {not: erp.get_po}}', {}, true],
  ])('%s', async (when, given, expected) => {
    expect(await matches(when, given)).toBe(expected);
  });

  it('reads a result without structure from its JSON text', async () => {
    const messages = [toolResult('erp.get_po', 'succeeded', '{"open": true}')];
    expect(await matches('{last.result.open: true}', { messages })).toBe(true);
    expect(await matches('{last.result.open: true}', { messages: [toolResult('x', 'failed', 'no')] })).toBe(false);
  });

  it('answers a pattern that would run for ever in linear time', async () => {
    const task = { note: `${'a'.repeat(50_000)}!` };
    const startedAt = performance.now();
    expect(await matches('{task.note: "/^(a+)+$/"}', { task })).toBe(true);
    expect(performance.now() - startedAt).toBeLessThan(1000);
  });
});

describe('a reply', () => {
  it('takes the first rule that matches', async () => {
    const script = '  - {when: {turn: 2}, say: two}\n  - {when: {turn: {min: 2}}, say: later}\n  - say: one';
    expect(await ask(script, { turn: 2 })).toMatchObject({ text: 'two' });
    expect(await ask(script, { turn: 3 })).toMatchObject({ text: 'later' });
    expect(await ask(script, { turn: 1 })).toMatchObject({ text: 'one' });
  });

  it('keeps types with `{{= }}`, writes text with `{{ }}`, and leaves out what is missing', async () => {
    const script = `  - call:
      - tool: erp.invoice_post
        arguments: {a: "{{= task.invoice.total_cents }}", b: "{{task.invoice.total_cents}}", c: "{{= task.nope}}", d: "x{{task.nope}}y", e: [1, "{{= task.nope}}"], f: true, g: {h: "{{= task.invoice.lines}}"}}`;
    expect(await ask(script)).toEqual({
      text: '',
      calls: ['erp_invoice_post {"a":120000,"b":"120000","d":"xy","e":[1,null],"f":true,"g":{"h":[1,2]}}'],
      stopReason: 'calls',
    });
  });

  it('calls several tools, also ones that do not exist, with raw argument text', async () => {
    const script = `  - say: "posting {{task.invoice.po}}"
    call:
      - {tool: erp.get_po, arguments: {po: "{{task.invoice.po}}"}}
      - {tool: erp.nothing, argumentsText: '{"amount": -{{task.invoice.total_cents}}'}
      - {tool: erp.get_po}`;
    expect(await ask(script)).toEqual({
      text: 'posting PO-3',
      calls: ['erp_get_po {"po":"PO-3"}', 'erp.nothing {"amount": -120000', 'erp_get_po {}'],
      stopReason: 'calls',
    });
  });

  it('quotes earlier results', async () => {
    const script = '  - say: "Result: {{last.text}} of {{results.erp.get_po.result.supplier}} at {{turn}}"';
    expect(await ask(script, AFTER_PO)).toMatchObject({
      text: 'Result: {"total_cents": 7} of S at 2',
      stopReason: 'end',
    });
  });

  it('bills the usage it names, else an estimate', async () => {
    const named = await provider('  - {say: ok, usage: {uncached: 900, output: 40}}').call('m', request(), SIGNAL);
    expect(named).toMatchObject({ usage: { uncached: 900, cacheRead: 0, output: 40, estimated: false } });
    const estimated = await provider('  - {say: "12345678"}').call('m', request(), SIGNAL);
    expect(estimated).toMatchObject({ usage: { uncached: 2, output: 2, estimated: true } });
  });

  it('can be malformed, cut off or failed', async () => {
    expect(await ask('  - malformed: no closing brace')).toMatchObject({
      status: 'malformed',
      reason: 'no closing brace',
    });
    expect(await ask('  - {say: half, stop: length}')).toMatchObject({ stopReason: 'length' });
    expect(await ask('  - fail: {code: rate-limited, message: quota exhausted}')).toEqual({
      status: 'failed',
      failure: { code: 'rate-limited', message: 'quota exhausted', retryable: false, details: {} },
    });
  });

  it('is equal for equal requests', async () => {
    const script = '  - call: [{tool: erp.get_po, arguments: {po: "{{task.invoice.po}}"}}]';
    const [first, second] = [provider(script), provider(script)];
    expect(await first.call('m', request(AFTER_PO), SIGNAL)).toEqual(await second.call('m', request(AFTER_PO), SIGNAL));
  });

  it('rejects when no rule matches', async () => {
    await expect(provider('  - {when: {turn: 9}, say: x}').call('m', request(), SIGNAL)).rejects.toThrow(
      'no rule of `models/m.yaml` matches turn 1',
    );
  });

  it('waits as long as it says and stops waiting when told to', async () => {
    const slow = provider('  - {say: x, delayMs: 3600000}');
    const controller = new AbortController();
    const call = slow.call('m', request(), controller.signal);
    controller.abort();
    await expect(call).rejects.toMatchObject({ name: 'AbortError' });
  });
});

describe('a model file', () => {
  const faultOf = (script: string): string => {
    try {
      provider(script);
    } catch (error) {
      if (error instanceof ConfigError) return error.message;
      throw error;
    }
    return 'none';
  };

  it.each<[string, string, RegExp]>([
    ['an unknown key', '  - {say: x, sey: y}', /^models\/m\.yaml:3:14: key `sey` is not known.*expected one of .*say/],
    [
      'an unknown fact',
      '  - {when: {invoice.po: 1}, say: x}',
      /^models\/m\.yaml:3:13: `invoice\.po` is not a fact; expected .*task, turn/,
    ],
    [
      'an unknown path in a template',
      '  - say: "{{invoice.po}}"',
      /^models\/m\.yaml:3:5: `invoice\.po` is not a dotted path/,
    ],
    ['an unclosed template', '  - say: "{{task.po"', /3:5: `{{` is not closed/],
    ['a typed slot inside text', '  - say: "a {{= task.po}}"', /3:5: `{{= }}` keeps the type/],
    ['a pattern that cannot be used', '  - {when: {task.a: "/(/"}, say: x}', /^models\/m\.yaml:3:13: /],
    ['a pattern with unknown flags', '  - {when: {task.a: "/a/gx"}, say: x}', /flag `g` is not one of i, m, s/],
    ['a rule that says nothing', '  - {when: {turn: 1}}', /3:5: a rule needs `call` or `say`/],
    ['a rule with two kinds of reply', '  - {say: x, malformed: y}', /only one of these/],
    ['two forms of arguments', '  - call: [{tool: a, arguments: {}, argumentsText: "{}"}]', /not both/],
    ['an unknown stop reason', '  - {say: x, stop: never}', /^models\/m\.yaml:3:20: .*`never`/],
  ])('names %s with line and column', (_, script, message) => {
    expect(faultOf(script)).toMatch(message);
  });

  it('names every fault at once', () => {
    expect(faultOf('  - {when: {x: 1}, say: "{{y}}"}\n  - {when: {z: 1}}').split('\n')).toHaveLength(4);
  });

  it('refuses two files of one model', () => {
    const file = (name: string) => ({ file: name, text: 'model: scripted/m\nscript: [{say: x}]' });
    expect(() => createScriptedProvider([file('a.yaml'), file('b.yaml')])).toThrow(
      'b.yaml: model `scripted/m` is defined in `a.yaml` too; rename one of them',
    );
  });

  it('costs nothing unless it names a price or says that there is none', () => {
    const priceOf = (line: string) =>
      createScriptedProvider([{ file: 'f', text: `model: scripted/m\n${line}\nscript: [{say: x}]` }]).describe('m')
        ?.price;
    expect(priceOf('')).toEqual({ input: 0, cacheRead: 0, cacheWrite: 0, output: 0 });
    expect(priceOf('price: none')).toBeNull();
    expect(priceOf('price: {input: 3, cacheRead: 1, cacheWrite: 4, output: 15}')).toMatchObject({ output: 15 });
  });
});
