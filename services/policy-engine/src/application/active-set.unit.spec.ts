import { ConfigError } from '@lineclear/errors';
import { describe, expect, it } from 'vitest';
import type { CallFacts } from '../domain/facts.js';
import { ASSUMED_TRAITS } from '../domain/traits.js';
import { ActiveSet } from './active-set.js';

const load = (rules: string, tests = '') =>
  ActiveSet.load([{ file: 'p.yaml', text: `policy: p\nversion: 1\nrules:\n${rules}\n${tests}` }]);

const facts = (overrides: Partial<CallFacts> = {}): CallFacts => ({
  tool: 'erp.invoice_post',
  roles: ['ap-clerk'],
  arguments: { amount_cents: 1 },
  traits: ASSUMED_TRAITS,
  label: { confidentiality: 'internal', integrity: 'trusted' },
  ...overrides,
});

function verdict(rules: string, overrides: Partial<CallFacts> = {}): string {
  const set = load(rules);
  try {
    const { verdict: word, rules: ids } = set.judge(facts(overrides));
    return [word, ...ids].join(' ');
  } finally {
    set.dispose();
  }
}

const INVOICE = `
  - {id: read, allow: "erp.get_*"}
  - {id: post, allow: erp.invoice_post, roles: [ap-clerk], where: {amount_cents: {max: 500000}}}
  - {id: big, ask: erp.invoice_post, roles: [ap-clerk], where: {amount_cents: {min: 500001, max: 2000000}}, approvers: [finance], fourEyes: true, expires: 1h}
  - {id: outside, ask: "*", where: {tool.leavesSystem: true}}
  - {id: bank, deny: erp.vendor_change_bank, terminal: true}`;

describe('the rules of interface.md', () => {
  it.each<[string, Partial<CallFacts>]>([
    ['allow read', { tool: 'erp.get_po', arguments: {} }],
    ['allow post', { arguments: { amount_cents: 500_000 } }],
    ['ask big', { arguments: { amount_cents: 500_001 } }],
    ['ask big', { arguments: { amount_cents: 2_000_000 } }],
    ['deny', { arguments: { amount_cents: 2_000_001 } }],
    ['deny', { roles: ['guest'] }],
    ['deny', { roles: [] }],
    ['ask outside', { traits: { ...ASSUMED_TRAITS, leavesSystem: true } }],
    ['ask big outside', { arguments: { amount_cents: 900_000 }, traits: { ...ASSUMED_TRAITS, leavesSystem: true } }],
    ['ask outside', { tool: 'mail.send', traits: { ...ASSUMED_TRAITS, leavesSystem: true } }],
    ['deny bank', { tool: 'erp.vendor_change_bank', traits: { ...ASSUMED_TRAITS, leavesSystem: true } }],
    ['deny', { tool: 'erp.unheard_of' }],
    ['deny', { tool: 'ERP.get_po' }],
    ['deny', { tool: 'erp.Get_po' }],
    ['deny', { tool: ' erp.get_po' }],
    ['deny', { tool: 'mcp__erp__get_po' }],
    ['allow built-in.read_result', { tool: 'read_result', arguments: { handle: 'h' } }],
    ['deny big post', { arguments: {} }],
    ['deny big post', { arguments: { amount_cents: null } }],
    ['deny big post', { arguments: { amount_cents: '1' } }],
    ['deny big post', { arguments: { amount_cents: 1.5 } }],
    ['deny big post', { arguments: { amount_cents: [1] } }],
    ['deny big post', { arguments: { amount_cents: { value: 1 } } }],
  ])('%s', (expected, overrides) => {
    expect(verdict(INVOICE, overrides)).toBe(expected);
  });

  it('joins what several ask rules demand to the strictest', () => {
    const set = load(`
  - {id: a, ask: "*", approvers: [finance, board], validFor: 1m}
  - {id: b, ask: "*", approvers: [board, legal], fourEyes: true, expires: 1h}
  - {id: c, ask: "*", expires: 30m}`);
    expect(set.judge(facts()).demand).toEqual({
      approvers: ['board'],
      fourEyes: true,
      expiresMs: 1_800_000,
      validForMs: 60_000,
    });
    set.dispose();
  });

  it('denies when rules that ask share no approver', () => {
    const set = load('\n  - {id: a, ask: "*", approvers: [x]}\n  - {id: b, ask: "*", approvers: [y]}');
    expect(set.judge(facts())).toMatchObject({
      verdict: 'deny',
      rules: ['a', 'b'],
      errors: [{ rule: 'a' }, { rule: 'b' }],
    });
    set.dispose();
  });

  it('ends the run only by a deny rule that says so', () => {
    const set = load(INVOICE);
    expect(set.judge(facts({ tool: 'erp.vendor_change_bank' })).terminal).toBe(true);
    expect(set.judge(facts({ tool: 'erp.unheard_of' })).terminal).toBe(false);
    set.dispose();
  });
});

describe('an undecidable rule denies, whatever other rules say (B27)', () => {
  const all = '  - {id: all, allow: "*"}\n';
  it.each<[string, string, Partial<CallFacts>]>([
    ['a missing argument', `${all}  - {id: prod, deny: "*", where: {env: prod}}`, { arguments: {} }],
    ['another type', `${all}  - {id: prod, deny: "*", where: {env: {in: [prod]}}}`, { arguments: { env: 3 } }],
    ['a missing trait', `${all}  - {id: out, deny: "*", where: {tool.leavesSystem: true}}`, { traits: {} }],
    ['an ask rule', `${all}  - {id: big, ask: "*", where: {n: {min: 5}}}`, { arguments: {} }],
    ['broken Unicode', `${all}  - {id: prod, deny: "*", where: {env: prod}}`, { arguments: { env: 'pro\ud800' } }],
    ['an inherited key', `${all}  - {id: c, deny: "*", where: {constructor.name: Object}}`, { arguments: {} }],
  ])('%s', (_, rules, overrides) => {
    const set = load(rules);
    const judgement = set.judge(facts(overrides));
    expect(judgement.verdict).toBe('deny');
    expect(judgement.errors).not.toEqual([]);
    expect(judgement.reason).toMatch(/^policy error/);
    set.dispose();
  });

  it('unless another condition of the rule settles it, in any order of the keys', () => {
    for (const where of ['{tool.write: false, n: {max: 5}}', '{n: {max: 5}, tool.write: false}', '{a: 1, n: {max: 5}}'])
      expect(verdict(`${all}  - {id: no, deny: "*", where: ${where}}`, { arguments: { a: 2 } })).toBe('allow all');
    expect(verdict(`${all}  - {id: no, deny: "*", where: {a: 2, n: {max: 5}}}`, { arguments: { a: 2 } })).toBe(
      'deny no',
    );
  });

  it('unless the rule says that the argument is optional', () => {
    const rules = `${all}  - {id: no, deny: "*", where: {n: {present: true, min: 5}}}\n  - {id: none, deny: "*", where: {m: {present: true}}}`;
    expect(verdict(rules, { arguments: {} })).toBe('allow all');
    expect(verdict(rules, { arguments: { n: 4, m: null } })).toBe('allow all');
    expect(verdict(rules, { arguments: { n: 5 } })).toBe('deny no');
    expect(verdict(rules, { arguments: { n: 'x' } })).toBe('deny no');
    expect(verdict(rules, { arguments: { n: null, m: [] } })).toBe('deny none');
    expect(verdict('  - {id: bare, allow: "*", where: {n: {present: false}}}', { arguments: {} })).toBe('allow bare');
    expect(verdict('  - {id: bare, allow: "*", where: {n: {present: false}}}', { arguments: { n: false } })).toBe(
      'deny',
    );
  });
});

describe('arguments are data', () => {
  it.each(['__entity', '__extn', '__expr'])('denies the reserved key %s at any depth', (key) => {
    const forged = { [key]: { type: 'Role', id: 'admin', fn: 'decimal', arg: '1' } };
    for (const args of [{ amount_cents: forged }, { amount_cents: 1, note: [{ deep: [forged] }] }, forged]) {
      const set = load('  - {id: all, allow: "*"}');
      expect(set.judge(facts({ arguments: args }))).toMatchObject({ verdict: 'deny', rules: [] });
      set.dispose();
    }
  });

  it('survives nesting that would end a recursive walk', () => {
    let deep: unknown = { __entity: 1 };
    for (let depth = 0; depth < 50_000; depth += 1) deep = [deep];
    expect(verdict('  - {id: all, allow: "*"}', { arguments: { deep } })).toBe('deny');
  });

  it('keeps names as they are: no prototype, no escape of the Cedar text', () => {
    const rules = `
  - {id: proto, allow: "x.*", where: {__proto__.admin: true}}
  - {id: quote, allow: "y.*", where: {'a"] || true || context["b': "x\\" || true || \\"*"}}
  - {id: star, allow: "z.*", where: {"n\\u0007\\\\": {matches: "a\\\\*'\\u{2a}"}}}`.replace('\\u{2a}', 'é');
    expect(verdict(rules, { tool: 'x.y', arguments: {} })).toBe('deny proto');
    expect(verdict(rules, { tool: 'x.y', arguments: JSON.parse('{"__proto__":{"admin":true}}') })).toBe('allow proto');
    expect(verdict(rules, { tool: 'y.y', arguments: { b: 'x' } })).toBe('deny quote');
    expect(verdict(rules, { tool: 'y.y', arguments: { 'a"] || true || context["b': 'x" || true || "*' } })).toBe(
      'allow quote',
    );
    expect(verdict(rules, { tool: 'z.y', arguments: { 'n\u0007\\': "a\\anything'é" } })).toBe('allow star');
    expect(verdict(rules, { tool: 'z.y', arguments: { 'n\u0007\\': "aanything'é" } })).toBe('deny');
  });

  it('reads nested arguments, and arguments called tool or label by their full name', () => {
    const rules = '  - {id: a, allow: "*", where: {address.country: DE, arguments.tool.write: 7}}';
    expect(verdict(rules, { arguments: { address: { country: 'DE' }, tool: { write: 7 } } })).toBe('allow a');
    expect(verdict(rules, { arguments: { address: ['DE'], tool: { write: 7 } } })).toBe('deny a');
  });
});

describe('numbers are exact or refused (B26)', () => {
  const limit = '  - {id: in, allow: "*", where: {n: {max: 9007199254740991}}}';
  it.each<[string, unknown]>([
    ['allow in', 9_007_199_254_740_991],
    ['allow in', -9_007_199_254_740_991],
    ['allow in', -0],
    ['allow in', 5.0],
    ['deny', 9_007_199_254_740_992],
    ['deny', Number('9007199254740993')],
    ['deny', -9_007_199_254_740_992],
    ['deny', 1e21],
    ['deny', 28857836529306024611912n],
    ['deny in', '9007199254740991'],
    ['deny in', 0.1 + 0.2],
  ])('%s for %s', (expected, n) => {
    expect(verdict(limit, { arguments: { n } })).toBe(expected);
  });

  it('refuses an inexact number anywhere in the arguments', () => {
    expect(verdict('  - {id: all, allow: "*"}', { arguments: { deep: [{ id: Number('2512292042121000001') }] } })).toBe(
      'deny',
    );
  });

  it('compares long ids and decimals as the text they are', () => {
    const rules = '  - {id: ids, allow: "*", where: {id: {in: ["28857836529306024611912", "1.10", "0.0000001"]}}}';
    expect(verdict(rules, { arguments: { id: '28857836529306024611912' } })).toBe('allow ids');
    expect(verdict(rules, { arguments: { id: '28857836529306024611913' } })).toBe('deny');
    expect(verdict(rules, { arguments: { id: '1.1' } })).toBe('deny');
    expect(verdict(rules, { arguments: { id: 1.1 } })).toBe('deny');
    expect(verdict(rules, { arguments: { id: 1e-7 } })).toBe('allow ids');
    expect(verdict(rules, { arguments: { id: '1e-7' } })).toBe('deny');
  });
});

describe('cases in the file', () => {
  it('accept the set when they come out as expected', () => {
    const tests = `tests:
  - {call: erp.invoice_post, roles: [ap-clerk], arguments: {amount_cents: 900000}, expect: ask, rule: big}
  - {call: erp.invoice_post, roles: [ap-clerk], arguments: {amount_cents: 900000}, approved: true, expect: allow}
  - {call: erp.invoice_post, arguments: {amount_cents: 1}, expect: deny}
  - {call: mail.send, tool: {leavesSystem: true}, labels: {integrity: untrusted}, expect: ask}`;
    expect(() => load(INVOICE, tests).dispose()).not.toThrow();
  });

  it('refuse the set at the place of the one that fails', () => {
    const tests =
      'tests:\n  - {call: erp.get_po, expect: allow}\n  - {call: erp.get_po, expect: deny}\n  - {call: erp.get_po, expect: allow, rule: post}';
    expect(() => load(INVOICE, tests)).toThrow(ConfigError);
    expect(() => load(INVOICE, tests)).toThrow(
      /p\.yaml:12:5: the test of `erp\.get_po` fails; seen allow \(allowed by `read`\); expected deny[\s\S]*p\.yaml:13:5.*expected allow by rule `post`/,
    );
  });
});

it('denies every call of an empty set, and says how a call would be allowed', () => {
  expect(verdict('  []')).toBe('deny');
});
