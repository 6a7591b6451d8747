import type { CallFacts } from './facts.js';
import type { TestCase } from './policy-file.js';
import { ASSUMED_TRAITS } from './traits.js';

/** The facts of a case in a policy file: what it does not say is assumed. */
export function factsOfTest(test: TestCase): CallFacts {
  return {
    tool: test.call,
    roles: test.roles,
    arguments: test.arguments,
    traits: { ...ASSUMED_TRAITS, ...defined(test.tool) },
    label: { confidentiality: 'internal', integrity: 'trusted', ...defined(test.labels) },
  };
}

function defined<T extends object>(value: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(value).filter(([, inner]) => inner !== undefined)) as {
    [K in keyof T]: Exclude<T[K], undefined>;
  };
}
