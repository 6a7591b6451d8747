import { z } from 'zod';
import { boundedPattern, type TextTest } from './bounded-pattern.js';
import { type FactPath, type Facts, factAt } from './facts.js';

const scalarSchema = z.union([z.string(), z.number(), z.boolean(), z.null()]);
const oneOrMoreSchema = z.union([scalarSchema, z.array(scalarSchema).min(1)]);

/** What a fact must be: a value or `/pattern/flags`, one of several, a range, present or absent, or not something. */
export const expectationSchema = z.union([
  oneOrMoreSchema,
  z.strictObject({ min: z.number().optional(), max: z.number().optional() }),
  z.strictObject({ exists: z.boolean() }),
  z.strictObject({ not: oneOrMoreSchema }),
]);

type Scalar = z.infer<typeof scalarSchema>;
export type Expectation = z.infer<typeof expectationSchema>;
export type Condition = (facts: Facts) => boolean;

/** Compiles one line of a `when`. Where the fact is a list, one element that fits is enough. Throws Error for a pattern that cannot be used. */
export function compileCondition(path: FactPath, expectation: Expectation): Condition {
  const test = compileTest(expectation);
  return (facts) => test(factAt(facts, path));
}

function compileTest(expectation: Expectation): (value: unknown) => boolean {
  if (expectation === null || typeof expectation !== 'object' || Array.isArray(expectation)) return anyOf(expectation);
  if ('exists' in expectation) return (value) => (value !== undefined && value !== null) === expectation.exists;
  if ('not' in expectation) {
    const test = anyOf(expectation.not);
    return (value) => !test(value);
  }
  const { min = -Infinity, max = Infinity } = expectation;
  return (value) => typeof value === 'number' && value >= min && value <= max;
}

function anyOf(expected: Scalar | readonly Scalar[]): (value: unknown) => boolean {
  const tests = (Array.isArray(expected) ? expected : [expected]).map(scalarTest);
  return (value) => {
    const values: readonly unknown[] = Array.isArray(value) ? value : [value];
    return values.some((element) => tests.some((test) => test(element)));
  };
}

function scalarTest(expected: Scalar): (value: unknown) => boolean {
  const pattern: TextTest | undefined = typeof expected === 'string' ? boundedPattern(expected) : undefined;
  if (pattern) return (value) => typeof value === 'string' && pattern(value);
  if (expected === null) return (value) => value === null || value === undefined;
  return (value) => value === expected;
}
