import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { prepareSlice } from '../adapters/cedar/cedar.js';
import type { CallFacts } from '../domain/facts.js';
import type { ConditionEntry, RuleEntry } from '../domain/policy-file.js';
import { contextOf, sliceOf } from '../domain/slice.js';
import { ASSUMED_TRAITS } from '../domain/traits.js';
import { ActiveSet } from './active-set.js';

type Truth = 'yes' | 'no' | 'unclear';
type Operators = Exclude<ConditionEntry, string | number | boolean>;

/** The meaning of a rule set said a second time, straight from the entries of the file and without Cedar. */
function naiveVerdict(rules: readonly RuleEntry[], facts: CallFacts): string {
  const applying = rules.filter((rule) => {
    const glob = rule.allow ?? rule.ask ?? rule.deny ?? '';
    const pattern = glob.replaceAll('.', '\\.').replaceAll('*', '[^]*');
    const isMember = rule.roles === undefined || rule.roles.some((role) => facts.roles.includes(role));
    return isMember && new RegExp(`^${pattern}$`).test(facts.tool);
  });
  const truths = applying.map((rule) => {
    const all = Object.entries(rule.where ?? {}).map(([name, entry]) => naiveCondition(name, entry, facts));
    return { rule, truth: all.includes('no') ? 'no' : all.includes('unclear') ? 'unclear' : 'yes' };
  });
  const holding = truths.filter(({ truth }) => truth === 'yes').map(({ rule }) => rule);
  const ids = (which: readonly RuleEntry[]) => which.map(({ id }) => id).toSorted();
  const denies = holding.filter(({ deny }) => deny !== undefined);
  if (denies.length > 0) return ['deny', ...ids(denies)].join(' ');
  const unclear = truths.filter(({ truth }) => truth === 'unclear').map(({ rule }) => rule);
  if (unclear.length > 0) return ['deny', ...ids(unclear)].join(' ');
  const asks = holding.filter(({ ask }) => ask !== undefined);
  if (asks.length > 0) {
    const named = asks.flatMap(({ approvers }) => (approvers === undefined ? [] : [approvers]));
    const shared = (named[0] ?? ['any']).filter((role) => named.every((approvers) => approvers.includes(role)));
    return [shared.length > 0 ? 'ask' : 'deny', ...ids(asks)].join(' ');
  }
  const allows = holding.filter(({ allow }) => allow !== undefined);
  return [allows.length > 0 ? 'allow' : 'deny', ...ids(allows)].join(' ');
}

function naiveCondition(name: string, entry: ConditionEntry, facts: CallFacts): Truth {
  const where: Operators = typeof entry === 'object' ? entry : { equals: entry };
  const value = name
    .replace(/^arguments\./, '')
    .split('.')
    .reduce<unknown>(
      (inner, key) => {
        if (typeof inner !== 'object' || inner === null || Array.isArray(inner)) return undefined;
        return Object.getOwnPropertyDescriptor(inner, key)?.value;
      },
      name.startsWith('tool.')
        ? { tool: facts.traits }
        : name.startsWith('label.')
          ? { label: facts.label }
          : facts.arguments,
    );
  const isThere = value !== undefined && value !== null;
  const asked = [where.min, where.max, where.equals, where.in, where.matches].some(
    (operator) => operator !== undefined,
  );
  if (!asked) return isThere === where.present ? 'yes' : 'no';
  if (!isThere) return where.present === true ? 'no' : 'unclear';
  if (where.matches !== undefined) {
    if (typeof value === 'number' && !Number.isInteger(value)) return match(where.matches, String(value));
    return typeof value === 'string' ? match(where.matches, value) : 'unclear';
  }
  const wanted = where.in ?? (where.equals === undefined ? [] : [where.equals]);
  const sample = wanted[0] ?? where.min ?? where.max;
  const seen = typeof value === 'number' && !Number.isInteger(value) ? String(value) : value;
  if (typeof seen !== typeof sample) return 'unclear';
  if (wanted.length > 0) return wanted.some((one) => one === seen) ? 'yes' : 'no';
  const number = Number(seen);
  return number >= (where.min ?? -Infinity) && number <= (where.max ?? Infinity) ? 'yes' : 'no';
}

function match(glob: string, text: string): Truth {
  return new RegExp(`^${glob.replaceAll('.', '\\.').replaceAll('*', '[^]*')}$`).test(text) ? 'yes' : 'no';
}

const value = fc.constantFrom<unknown>(
  0,
  1,
  5,
  -3,
  0.5,
  'a',
  'ab',
  '1',
  '',
  true,
  false,
  null,
  [1],
  { b: 1 },
  undefined,
);
const facts: fc.Arbitrary<CallFacts> = fc.record({
  tool: fc.constantFrom('erp.get', 'erp.post', 'mail.send', 'x'),
  roles: fc.subarray(['clerk', 'boss', 'guest']),
  arguments: fc.record({ a: value, b: value, c: fc.oneof(value, fc.record({ d: value })) }, { requiredKeys: [] }),
  traits: fc
    .record({ write: fc.boolean(), leavesSystem: fc.boolean() })
    .map((some) => ({ ...ASSUMED_TRAITS, ...some })),
  label: fc.record({
    confidentiality: fc.constantFrom('public' as const, 'internal' as const, 'restricted' as const),
    integrity: fc.constantFrom('trusted' as const, 'untrusted' as const),
  }),
});

const present = fc.constantFrom({}, { present: true });
const condition: fc.Arbitrary<ConditionEntry> = fc.oneof(
  fc.constantFrom<ConditionEntry>(1, 'a', true, { present: true }, { present: false }),
  fc
    .tuple(fc.integer({ min: -4, max: 3 }), fc.integer({ min: 0, max: 4 }), present)
    .map(([min, width, more]) => ({ min, max: min + width, ...more })),
  fc.tuple(fc.subarray(['a', 'ab', '0.5'], { minLength: 1 }), present).map(([list, more]) => ({ in: list, ...more })),
  fc.tuple(fc.constantFrom('a*', '*', '*5', 'b'), present).map(([matches, more]) => ({ matches, ...more })),
);
const where = fc.oneof(
  fc
    .dictionary(fc.constantFrom('a', 'b', 'c.d', 'arguments.a'), condition, { maxKeys: 3 })
    .map(({ 'arguments.a': full, ...rest }) =>
      full === undefined || 'a' in rest ? rest : { ...rest, 'arguments.a': full },
    ),
  fc.boolean().map((write) => ({ 'tool.write': write })),
  fc.tuple(condition, fc.boolean()).map(([a, leaves]) => ({ a, 'tool.leavesSystem': leaves })),
  fc.constantFrom({ 'label.integrity': 'untrusted' }, { 'label.confidentiality': { in: ['internal', 'public'] } }),
);
const rule = fc
  .record({
    effect: fc.constantFrom('allow', 'allow', 'ask', 'deny'),
    tool: fc.constantFrom('*', 'erp.*', 'erp.post', '*.*s*', 'x'),
    roles: fc.option(fc.subarray(['clerk', 'boss'], { minLength: 1 }), { nil: undefined }),
    where: fc.option(where, { nil: undefined }),
    approvers: fc.option(fc.subarray(['finance', 'board'], { minLength: 1 }), { nil: undefined }),
  })
  .map(({ effect, tool, approvers, ...rest }) => ({
    [effect]: tool,
    ...rest,
    ...(effect === 'ask' ? { approvers } : {}),
  }));
const rules = fc
  .array(rule, { minLength: 0, maxLength: 6 })
  .map((list) => list.map((entry, index) => ({ id: `r${index}`, ...entry }) as RuleEntry));

function load(entries: readonly RuleEntry[]): ActiveSet {
  return ActiveSet.load([{ file: 'p', text: JSON.stringify({ policy: 'p', version: 1, rules: entries }) }]);
}

function verdictOf(set: ActiveSet, call: CallFacts): string {
  const { verdict, rules: ids } = set.judge(call);
  return [verdict, ...ids].join(' ');
}

const rank = (verdict: string): number => ['deny', 'ask', 'allow'].indexOf(verdict.split(' ')[0] ?? '');

describe('any rule set and any calls', () => {
  const CALLS_PER_SET = 28;
  const calls = fc.array(facts, { minLength: CALLS_PER_SET, maxLength: CALLS_PER_SET });

  it('agrees with the naive evaluator, whatever the order of the rules, and adding a deny never allows more', {
    timeout: 60_000,
  }, () => {
    fc.assert(
      fc.property(rules, rule, calls, (entries, extra, list) => {
        const set = load(entries);
        const turned = load(entries.toReversed());
        const { allow, ask, deny, approvers: _, ...rest } = extra as Omit<RuleEntry, 'id'>;
        const stricter = load([...entries, { id: 'extra', deny: allow ?? ask ?? deny, ...rest }]);
        const whole = sliceOf(set.set.policies, 'any');
        const prepared = prepareSlice(whole);
        try {
          for (const call of list) {
            const verdict = verdictOf(set, call);
            expect(verdict).toBe(naiveVerdict(entries, call));
            expect(turned.judge(call)).toEqual(set.judge(call));
            expect(rank(verdictOf(stricter, call))).toBeLessThanOrEqual(rank(verdict));
            const plain = prepared.evaluate(contextOf(whole, call, false));
            expect(plain.decision === 'allow').toBe(verdict.startsWith('allow'));
          }
        } finally {
          for (const one of [set, turned, stricter, prepared]) one.dispose();
        }
      }),
      { numRuns: Math.ceil(2_000 / CALLS_PER_SET) },
    );
  });
});
