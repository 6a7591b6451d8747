import type { ConfigFault } from '@lineclear/errors';
import type { ConditionEntry } from './policy-file.js';
import type { Attribute, Condition, Scalar, Test, ValueType } from './rule.js';
import { type Field, FIELDS } from './traits.js';

/** What is wrong with a condition, without its place. */
export type ConditionFault = Pick<ConfigFault, 'what' | 'seen' | 'expected' | 'next'>;
type Checked<T> = { readonly ok: T } | { readonly fault: ConditionFault };

/** Turns one entry of `where` into a condition, or says why it can never be judged or never hold. */
export function toCondition(name: string, entry: ConditionEntry): Checked<Condition> {
  const attribute = toAttribute(name);
  if ('fault' in attribute) return attribute;
  const operators = typeof entry === 'object' ? entry : { equals: entry };
  const test = toTest(name, operators);
  if ('fault' in test) return test;
  const { present } = operators;
  if (present === false && test.ok.kind !== 'presence') {
    return { fault: { what: `\`${name}\` asks for a value and for its absence`, next: 'use two rules' } };
  }
  if (present !== undefined && attribute.ok.kind !== 'argument') {
    return { fault: { what: `\`${name}\` is always there`, next: 'remove `present`' } };
  }
  const field = fieldOf(attribute.ok);
  const misfit = field === undefined ? undefined : misfitOf(name, test.ok, field);
  if (misfit !== undefined) return { fault: misfit };
  return { ok: { attribute: attribute.ok, test: test.ok, ...(present === undefined ? {} : { present }) } };
}

function toAttribute(name: string): Checked<Attribute> {
  const [head = '', ...rest] = name.split('.');
  if (head === 'tool' || head === 'label') {
    const kind = head === 'tool' ? 'trait' : 'label';
    const field = rest.join('.');
    if (Object.hasOwn(FIELDS[kind], field)) return { ok: { kind, name, field } };
    const known = Object.keys(FIELDS[kind]).map((key) => `${head}.${key}`);
    const next = `correct it; for an argument called \`${head}\` write \`arguments.${name}\``;
    return { fault: { what: `\`${name}\` is not known`, expected: `one of ${known.join(', ')}`, next } };
  }
  const path = head === 'arguments' && rest.length > 0 ? rest : [head, ...rest];
  if (path.some((part) => part === '')) {
    return { fault: { what: `\`${name}\` is not the name of an argument`, next: 'name the parts between the dots' } };
  }
  return { ok: { kind: 'argument', name: `arguments.${path.join('.')}`, path } };
}

type Operators = Exclude<ConditionEntry, Scalar>;

function toTest(name: string, operators: Operators): Checked<Test> {
  const { min, max, equals, in: oneOf, matches, present } = operators;
  const kinds = [min ?? max, equals, oneOf, matches].filter((operator) => operator !== undefined);
  if (kinds.length > 1) {
    const what = `\`${name}\` mixes \`min\`/\`max\`, \`equals\`, \`in\` or \`matches\``;
    return { fault: { what, next: 'use one of them' } };
  }
  if (min !== undefined || max !== undefined) {
    if (min !== undefined && max !== undefined && min > max) {
      const what = `no value of \`${name}\` can meet this range`;
      return { fault: { what, seen: `min ${min}, max ${max}`, expected: 'min at most max', next: 'correct it' } };
    }
    const range = { ...(min === undefined ? {} : { min }), ...(max === undefined ? {} : { max }) };
    return { ok: { kind: 'range', type: 'long', ...range } };
  }
  if (matches !== undefined) return { ok: { kind: 'glob', type: 'string', pattern: matches } };
  const values = oneOf ?? (equals === undefined ? undefined : [equals]);
  if (values === undefined) {
    if (present !== undefined) return { ok: { kind: 'presence' } };
    const expected = 'a value, `min`, `max`, `equals`, `in`, `matches` or `present`';
    return { fault: { what: `\`${name}\` asks for nothing`, expected, next: 'add it' } };
  }
  const [type, ...others] = new Set(values.map(typeOf));
  if (type === undefined || others.length > 0) {
    const next = 'use values of one kind';
    return { fault: { what: `\`in\` of \`${name}\` mixes texts, integers and booleans`, next } };
  }
  return { ok: { kind: 'one-of', type, values } };
}

function typeOf(value: Scalar): ValueType {
  return typeof value === 'string' ? 'string' : typeof value === 'number' ? 'long' : 'bool';
}

function fieldOf(attribute: Attribute): Field | undefined {
  if (attribute.kind === 'argument') return undefined;
  const fields: Readonly<Record<string, Field>> = FIELDS[attribute.kind];
  return fields[attribute.field];
}

function misfitOf(name: string, test: Test, field: Field): ConditionFault | undefined {
  if (test.kind === 'presence') return undefined;
  const kinds = { long: 'an integer', string: 'a text', bool: 'true or false' } as const;
  if (test.type !== field.type) {
    const seen = `a comparison with ${kinds[test.type]}`;
    return { what: `\`${name}\` is ${kinds[field.type]}`, seen, next: 'correct it' };
  }
  const { values } = field;
  if (values === undefined) return undefined;
  if (test.kind === 'one-of') {
    const strange = test.values.find((value) => !values.includes(value));
    if (strange === undefined) return undefined;
    const expected = `one of ${values.join(', ')}`;
    return { what: `\`${name}\` never has this value`, seen: `\`${String(strange)}\``, expected, next: 'correct it' };
  }
  return { what: `\`${name}\` has fixed values`, expected: `\`equals\` or \`in\` of ${values.join(', ')}` };
}
