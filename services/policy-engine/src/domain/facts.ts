import type { Label, ToolTraits } from '@lineclear/contracts';
import type { Attribute, Scalar, ValueType } from './rule.js';

/** Everything that a verdict may depend on. Never text of the context, never who asks loudest. */
export interface CallFacts {
  readonly tool: string;
  readonly roles: readonly string[];
  readonly arguments: Readonly<Record<string, unknown>>;
  readonly traits: Partial<ToolTraits>;
  readonly label: Label;
}

/** CAUTION: Cedar's JSON form turns objects with these keys into entities, extension calls and expressions. */
const RESERVED_KEYS = ['__entity', '__extn', '__expr'];

/**
 * Why arguments cannot be judged at all, or undefined: a reserved key, or an integer that a double does not hold exactly, at any depth.
 */
export function argumentsFault(args: Readonly<Record<string, unknown>>): string | undefined {
  const open: unknown[] = [args];
  for (let value = open.pop(); value !== undefined; value = open.pop()) {
    if (typeof value === 'number' && !isExact(value)) {
      return `the number ${value} is beyond 2^53 and may have been rounded; send it as a string`;
    }
    if (typeof value === 'bigint') return `the number ${value} is beyond 2^53; send it as a string`;
    if (typeof value !== 'object' || value === null) continue;
    const reserved = RESERVED_KEYS.find((key) => Object.hasOwn(value, key));
    if (reserved !== undefined) return `the key \`${reserved}\` is reserved`;
    for (const inner of Object.values(value)) if (inner !== undefined) open.push(inner);
  }
  return undefined;
}

const isExact = (value: number): boolean =>
  Number.isSafeInteger(value) || (!Number.isInteger(value) && Number.isFinite(value));

/** The value that an attribute has in a call; undefined when there is none (null is none). */
export function valueOf(attribute: Attribute, facts: CallFacts): unknown {
  if (attribute.kind === 'argument') return attribute.path.reduce<unknown>(own, facts.arguments);
  return own(attribute.kind === 'label' ? facts.label : facts.traits, attribute.field);
}

function own(value: unknown, key: string): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value) || !Object.hasOwn(value, key))
    return undefined;
  return (value as Record<string, unknown>)[key] ?? undefined;
}

/** The value as rules compare it: an integer stays one, a fraction is its decimal text; undefined for lists, objects and broken Unicode. */
export function toScalar(value: unknown): { readonly type: ValueType; readonly value: Scalar } | undefined {
  switch (typeof value) {
    case 'string':
      return value.isWellFormed() ? { type: 'string', value } : undefined;
    case 'boolean':
      return { type: 'bool', value };
    case 'number':
      return Number.isInteger(value)
        ? { type: 'long', value: value + 0 }
        : { type: 'string', value: decimalText(value) };
    default:
      return undefined;
  }
}

/** Shortest decimal digits of a fraction, without exponent: 1.5, 0.0000001. */
export function decimalText(value: number): string {
  const [digits = '', exponent] = String(value).split('e-');
  if (exponent === undefined) return digits;
  const sign = digits.startsWith('-') ? '-' : '';
  return `${sign}0.${'0'.repeat(Number(exponent) - 1)}${digits.replace(/[-.]/g, '')}`;
}
