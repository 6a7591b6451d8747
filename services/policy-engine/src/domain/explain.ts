import { type CallFacts, toScalar, valueOf } from './facts.js';
import type { Condition, Rule, Test } from './rule.js';

const SHOWN_CHARS = 80;

/** What a rule could not judge: which argument, what was seen, what was needed. */
export function doubtOf(rule: Rule, facts: CallFacts): string {
  const doubts = rule.conditions.flatMap((condition) => {
    const { attribute, test, present } = condition;
    if (test.kind === 'presence' || attribute.kind !== 'argument') return [];
    const value = valueOf(attribute, facts);
    if (toScalar(value)?.type === test.type || (value === undefined && present === true)) return [];
    return [`\`${shortName(condition)}\` is ${value === undefined ? 'missing' : `not ${KINDS[test.type]}`}`];
  });
  return doubts.length > 0 ? doubts.join(', ') : 'the rule could not be judged';
}

/** Why an approval is asked for, for the person who decides: the rule and what of the call meets it. */
export function whyAsked(rules: readonly Rule[], facts: CallFacts): string {
  return rules
    .map((rule) => {
      const met = rule.conditions.map((condition) => {
        const value = valueOf(condition.attribute, facts);
        const seen = value === undefined ? 'missing' : shown(value);
        return `\`${shortName(condition)}\` is ${seen} (${expected(condition)})`;
      });
      return `rule \`${rule.id}\` asks for \`${rule.tool}\`${met.length === 0 ? '' : `: ${met.join(', ')}`}`;
    })
    .join('; ');
}

/** The smallest rule that would allow a call which nothing matched, as a line for a policy file. */
export function suggestRule(facts: CallFacts): string {
  const id = `allow-${facts.tool.replace(/[^A-Za-z0-9._-]/g, '-')}`.slice(0, 64);
  const roles = facts.roles.length === 0 ? '' : `, roles: ${JSON.stringify(facts.roles)}`;
  return `- {id: ${id}, allow: ${JSON.stringify(facts.tool)}${roles}}`;
}

const KINDS = { long: 'an integer', string: 'a text', bool: 'true or false' } as const;

function shortName({ attribute }: Condition): string {
  return attribute.kind === 'argument' ? attribute.path.join('.') : attribute.name;
}

function expected({ test, present }: Condition): string {
  if (test.kind === 'presence') return present === true ? 'present' : 'absent';
  return describe(test);
}

function describe(test: Exclude<Test, { kind: 'presence' }>): string {
  switch (test.kind) {
    case 'range': {
      const { min, max } = test;
      if (min === undefined) return `at most ${max}`;
      return max === undefined ? `at least ${min}` : `${min} to ${max}`;
    }
    case 'one-of':
      return test.values.length === 1 ? `${shown(test.values[0])}` : `one of ${test.values.map(shown).join(', ')}`;
    case 'glob':
      return `matches ${shown(test.pattern)}`;
  }
}

function shown(value: unknown): string {
  const text = JSON.stringify(value) ?? String(value);
  return text.length > SHOWN_CHARS ? `${text.slice(0, SHOWN_CHARS)}…` : text;
}
