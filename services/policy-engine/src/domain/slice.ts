import { type CedarPolicy, presenceKey, valueKey } from './cedar-text.js';
import { type CallFacts, toScalar, valueOf } from './facts.js';
import { matchesGlob } from './glob.js';
import type { Attribute, Scalar, ValueType } from './rule.js';

/** A value that policies read: of a type, or whether it is there. */
type Read =
  | { readonly key: string; readonly attribute: Attribute; readonly type: ValueType }
  | { readonly key: string; readonly attribute: Attribute; readonly type?: undefined };

/**
 * The policies that can concern one tool, and all that they read. Evaluating the slice gives what the whole set gives: a policy left out has a
 * glob that the tool's name does not match.
 */
export interface Slice {
  readonly tool: string;
  readonly policies: readonly CedarPolicy[];
  readonly reads: readonly Read[];
  readonly roles: ReadonlySet<string>;
}

export type Context = Readonly<Record<string, Scalar | readonly string[]>>;

export function sliceFor(policies: readonly CedarPolicy[], tool: string): Slice {
  return sliceOf(
    policies.filter(({ rule }) => matchesGlob(rule.tool, tool)),
    tool,
  );
}

/** The policies as they are, as the slice of a tool. */
export function sliceOf(policies: readonly CedarPolicy[], tool: string): Slice {
  const reads = new Map<string, Read>();
  const roles = new Set<string>();
  for (const { rule } of policies) {
    for (const role of rule.roles) roles.add(role);
    for (const { attribute, test, present } of rule.conditions) {
      if (test.kind !== 'presence') {
        const key = valueKey(attribute, test.type);
        reads.set(key, { key, attribute, type: test.type });
      }
      if (present !== undefined) reads.set(presenceKey(attribute), { key: presenceKey(attribute), attribute });
    }
  }
  return { tool, policies, reads: [...reads.values()], roles };
}

/** Only what the slice reads, so equal contexts get equal verdicts. Values are scalars, so no argument can become an entity. */
export function contextOf(slice: Slice, facts: CallFacts, approved: boolean): Context {
  const context: Record<string, Scalar | readonly string[]> = {
    approved,
    tool: facts.tool,
    roles: [...new Set(facts.roles)].filter((role) => slice.roles.has(role)).toSorted(),
  };
  for (const { key, attribute, type } of slice.reads) {
    const value = valueOf(attribute, facts);
    if (type === undefined) context[key] = value !== undefined;
    else {
      const scalar = toScalar(value);
      if (scalar?.type === type) context[key] = scalar.value;
    }
  }
  return context;
}

const CEDAR_TYPES = { long: 'Long', string: 'String', bool: 'Boolean' } as const satisfies Record<ValueType, string>;

/** Cedar schema (JSON form) of the requests that a slice judges. */
export function schemaOf(slice: Slice) {
  const attributes = Object.fromEntries(
    slice.reads.map(({ key, attribute, type }) =>
      type === undefined
        ? [key, { type: 'Boolean' as const, required: true }]
        : [key, { type: CEDAR_TYPES[type], required: attribute.kind !== 'argument' }],
    ),
  );
  const roles = { type: 'Set' as const, element: { type: 'String' as const } };
  return {
    '': {
      entityTypes: { Caller: {}, Tool: {} },
      actions: {
        call: {
          appliesTo: {
            principalTypes: ['Caller'],
            resourceTypes: ['Tool'],
            context: {
              type: 'Record' as const,
              attributes: {
                ...attributes,
                approved: { type: 'Boolean' as const, required: true },
                tool: { type: 'String' as const, required: true },
                roles: { ...roles, required: true },
              },
            },
          },
        },
      },
    },
  };
}
