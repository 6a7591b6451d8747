import type { Attribute, Condition, Rule, Scalar, Test, ValueType } from './rule.js';

/**
 * What a policy does: `permit` allows (an ask rule only when approved), `ask` forbids unless approved, `deny` forbids, `undecidable` forbids
 * when a condition cannot be judged and no other condition of the rule fails.
 */
export type CedarKind = 'permit' | 'ask' | 'deny' | 'undecidable';

export interface CedarPolicy {
  readonly id: string;
  readonly kind: CedarKind;
  readonly rule: Rule;
  /** Cedar 4 source */
  readonly text: string;
}

/** Key of a condition's value in the request's context; one per type, so that a value of another type is simply not there. */
export const valueKey = (attribute: Attribute, type: ValueType): string => `${attribute.name}:${type}`;
/** Key that says whether there is a value of any type. Always in the context of a policy that reads it. */
export const presenceKey = (attribute: Attribute): string => `${attribute.name}?`;

/**
 * Compiles a rule to Cedar. Every read of an argument is guarded by `has`, so the policies pass strict validation and never
 * err; what an error would mean is said by the `undecidable` policy instead. Order-free: see docs/guides/write-a-policy.md.
 */
export function toCedar(rule: Rule): readonly CedarPolicy[] {
  const applies = [toolExpression(rule.tool), ...roleExpressions(rule.roles)];
  const holds = rule.conditions.map(holdsExpression);
  const policy = (kind: CedarKind, suffix: string, when: readonly string[]): CedarPolicy => ({
    id: `${rule.id}${suffix}`,
    kind,
    rule,
    text: `${kind === 'permit' ? 'permit' : 'forbid'} (principal, action, resource) when {\n  ${when.join(' &&\n  ')}\n};`,
  });
  const main = {
    allow: () => [policy('permit', '', [...applies, ...holds])],
    deny: () => [policy('deny', '', [...applies, ...holds])],
    ask: () => [
      policy('permit', '', ['context.approved', ...applies, ...holds]),
      policy('ask', '#ask', ['!context.approved', ...applies, ...holds]),
    ],
  }[rule.effect]();
  const doubts = rule.conditions.map(doubtExpression);
  const doubtful = doubts.filter((doubt) => doubt !== undefined);
  if (doubtful.length === 0) return main;
  const holdsOrDoubt = holds.map((hold, at) => (doubts[at] === undefined ? hold : `(${doubts[at]} || ${hold})`));
  const undecidable = holds.length === 1 ? [] : holdsOrDoubt;
  return [...main, policy('undecidable', '#undecidable', [...applies, ...undecidable, `(${doubtful.join(' || ')})`])];
}

function toolExpression(glob: string): string {
  return glob.includes('*') ? `context.tool like ${pattern(glob)}` : `context.tool == ${quoted(glob)}`;
}

function roleExpressions(roles: readonly string[]): string[] {
  return roles.length === 0 ? [] : [`context.roles.containsAny([${roles.map(quoted).join(', ')}])`];
}

function holdsExpression({ attribute, test, present }: Condition): string {
  if (test.kind === 'presence') return `${present === true ? '' : '!'}context[${quoted(presenceKey(attribute))}]`;
  const key = quoted(valueKey(attribute, test.type));
  const value = testExpression(`context[${key}]`, test);
  return attribute.kind === 'argument' ? `(context has ${key} && ${value})` : `(${value})`;
}

/** True when the condition cannot be judged; undefined when it always can: traits and labels are in every request. */
function doubtExpression({ attribute, test, present }: Condition): string | undefined {
  if (test.kind === 'presence' || attribute.kind !== 'argument') return undefined;
  const missing = `!(context has ${quoted(valueKey(attribute, test.type))})`;
  return present === true ? `(context[${quoted(presenceKey(attribute))}] && ${missing})` : missing;
}

function testExpression(value: string, test: Exclude<Test, { kind: 'presence' }>): string {
  switch (test.kind) {
    case 'range': {
      const bounds = [
        ...(test.min === undefined ? [] : [`${value} >= ${test.min}`]),
        ...(test.max === undefined ? [] : [`${value} <= ${test.max}`]),
      ];
      return bounds.join(' && ');
    }
    case 'one-of':
      return `[${test.values.map(literal).join(', ')}].contains(${value})`;
    case 'glob':
      return `${value} like ${pattern(test.pattern)}`;
  }
}

function literal(value: Scalar): string {
  return typeof value === 'string' ? quoted(value) : String(value);
}

/** A Cedar string literal. INVARIANT: nothing in the text can end the literal or start an escape. */
function quoted(text: string): string {
  return `"${escaped(text)}"`;
}

/** A Cedar pattern in which only `*` is a wildcard, as in our globs. */
function pattern(glob: string): string {
  return `"${escaped(glob)}"`;
}

function escaped(text: string): string {
  return text.replace(/[\\"'\p{C}\p{Z}]/gu, (char) =>
    char === ' ' ? char : `\\u{${(char.codePointAt(0) ?? 0).toString(16)}}`,
  );
}
