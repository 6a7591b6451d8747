import { createRequire } from 'node:module';
import type * as Cedar from '@cedar-policy/cedar-wasm/nodejs';
import { afterEach, describe, expect, it } from 'vitest';
import type { CedarPolicy } from '../../domain/cedar-text.js';
import type { Rule } from '../../domain/rule.js';
import { type Slice, sliceOf } from '../../domain/slice.js';
import { type PreparedSlice, prepareSlice, validateSlice } from './cedar.js';

const RULE: Rule = { id: 'r', effect: 'allow', tool: '*', roles: [], conditions: [], terminal: false };
const policy = (id: string, text: string): CedarPolicy => ({ id, kind: 'permit', rule: RULE, text });
const ALL = policy('all', 'permit (principal, action, resource);');
const CONTEXT = { approved: false, tool: 'x.y', roles: [] };

let prepared: PreparedSlice | undefined;
afterEach(() => {
  prepared?.dispose();
  prepared = undefined;
});

function evaluate(policies: readonly CedarPolicy[], context: object = CONTEXT, slice: Partial<Slice> = {}) {
  prepared = prepareSlice({ ...sliceOf(policies, 'x.y'), ...slice });
  return prepared.evaluate(context as typeof CONTEXT);
}

describe('an evaluation', () => {
  it('allows by the permits that hold', () => {
    expect(evaluate([ALL])).toEqual({ decision: 'allow', policies: ['all'], errors: [] });
  });

  it.each([
    ['a missing attribute', 'context.env == "prod"'],
    ['another type', 'context.tool < 3'],
    ['an overflow', '9223372036854775807 + 1 == 0'],
  ])('denies when a policy errs on %s, although Cedar itself allows (B27)', (_, condition) => {
    const broken = policy('broken', `forbid (principal, action, resource) when { ${condition} };`);
    expect(evaluate([ALL, broken])).toEqual({
      decision: 'deny',
      policies: [],
      errors: [{ policy: 'broken', message: expect.any(String) }],
    });
  });

  it.each<[string, object]>([
    ['an entity in place of a text', { ...CONTEXT, tool: { __entity: { type: 'Tool', id: 'x.y' } } }],
    ['an attribute that the schema does not know', { ...CONTEXT, extra: 1 }],
    ['a missing attribute', { approved: false, tool: 'x.y' }],
    ['a fraction', { ...CONTEXT, tool: 0.5 }],
    ['null', { ...CONTEXT, tool: null }],
    ['a list of another type', { ...CONTEXT, roles: [1] }],
  ])('denies a request with %s', (_, context) => {
    const { decision, errors } = evaluate([ALL], context);
    expect(decision).toBe('deny');
    expect(errors).not.toEqual([]);
  });

  it('denies what it cannot even read', () => {
    const hostile = Object.defineProperty({ ...CONTEXT }, 'tool', {
      enumerable: true,
      get: () => {
        throw new Error('no');
      },
    });
    expect(evaluate([ALL], hostile).decision).toBe('deny');
  });
});

it('validates policies strictly against what a request holds', () => {
  const unknown = policy('p', 'forbid (principal, action, resource) when { context.env == "prod" };');
  const mistyped = policy('p', 'forbid (principal, action, resource) when { context.tool < 3 };');
  for (const bad of [unknown, mistyped]) expect(validateSlice(sliceOf([bad], 'x.y')).errors).toHaveLength(1);
  expect(validateSlice(sliceOf([ALL], 'x.y'))).toEqual({ errors: [], warnings: [] });
});

it('refuses policies that Cedar cannot parse', () => {
  expect(() => prepareSlice(sliceOf([policy('bad', 'permit (principal')], 'x.y'))).toThrow(/Cedar refuses/);
});

it('is never without its schema: Cedar refuses a name that was not parsed before (cedar #2348)', () => {
  prepared = prepareSlice(sliceOf([ALL], 'x.y'));
  const cedar = createRequire(import.meta.url)('@cedar-policy/cedar-wasm/nodejs') as typeof Cedar;
  const answer = cedar.statefulIsAuthorized({
    principal: { type: 'Caller', id: 'caller' },
    action: { type: 'Action', id: 'call' },
    resource: { type: 'Tool', id: 'x.y' },
    context: CONTEXT,
    preparsedPolicySetId: 'slice-1',
    preparsedSchemaName: 'never parsed',
    validateRequest: true,
    entities: [],
  });
  expect(answer.type).toBe('failure');
});

it('gives a name in the cache to the next slice only when its owner is done', () => {
  const first = prepareSlice(sliceOf([ALL], 'x.y'));
  const second = prepareSlice(sliceOf([policy('none', 'forbid (principal, action, resource);')], 'x.y'));
  expect(first.evaluate(CONTEXT).decision).toBe('allow');
  expect(second.evaluate(CONTEXT).decision).toBe('deny');
  first.dispose();
  first.dispose();
  expect(first.evaluate(CONTEXT).decision).toBe('deny');
  const third = prepareSlice(sliceOf([], 'x.y'));
  expect(third.evaluate(CONTEXT)).toEqual({ decision: 'deny', policies: [], errors: [] });
  expect(second.evaluate(CONTEXT).policies).toEqual(['none']);
  for (const slice of [second, third]) slice.dispose();
});
