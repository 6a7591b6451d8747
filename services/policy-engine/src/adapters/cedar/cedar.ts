import { createRequire } from 'node:module';
import { setFlagsFromString } from 'node:v8';
import type * as Cedar from '@cedar-policy/cedar-wasm/nodejs';
import { InvariantViolationError } from '@lineclear/errors';
import type { CedarPolicy } from '../../domain/cedar-text.js';
import type { Evaluation } from '../../domain/judge.js';
import { type Context, schemaOf, type Slice } from '../../domain/slice.js';

/**
 * CAUTION: must run before the wasm is loaded, hence `require` below and not an import. Without the flag V8 ends the process under load
 * ("unreachable code" in the deoptimizer) when optimised JS that inlined the call into wasm is deoptimised during the call. Every start
 * command of a process that evaluates carries it too. `cedar.load-would-die.isolated.int.spec.ts` keeps watch.
 */
setFlagsFromString('--no-turbo-inline-js-wasm-calls');
const cedar = createRequire(import.meta.url)('@cedar-policy/cedar-wasm/nodejs') as typeof Cedar;

/** The one name under which this module keeps things in Cedar's thread-wide cache; it has no way to remove an entry, so names are reused. */
const freeNames: string[] = [];
let namesMade = 0;

/** A slice that Cedar has parsed. */
export interface PreparedSlice {
  /** Never throws: what goes wrong is in `errors`, and the decision is deny then. */
  readonly evaluate: (context: Context) => Evaluation;
  /** Gives the name in Cedar's cache back; evaluations after that are denied. */
  readonly dispose: () => void;
}

/**
 * Parses a slice and its schema once.
 * @throws InvariantViolationError when Cedar refuses what our compiler made
 */
export function prepareSlice(slice: Slice): PreparedSlice {
  const name = freeNames.pop() ?? `slice-${(namesMade += 1)}`;
  const parsed = [
    cedar.preparsePolicySet(name, { staticPolicies: textsOf(slice.policies) }),
    cedar.preparseSchema(name, schemaOf(slice)),
  ];
  for (const answer of parsed) if (answer.type === 'failure') throw notOurs(answer.errors);
  const fixed = {
    ...REQUEST,
    resource: { type: 'Tool', id: slice.tool },
    preparsedPolicySetId: name,
    preparsedSchemaName: name,
  };
  let isDisposed = false;
  return {
    evaluate: (context) =>
      isDisposed
        ? denied([{ message: 'the policy set is no longer in use' }])
        : evaluate({ ...fixed, context: context as Cedar.Context }),
    dispose: () => {
      if (!isDisposed) freeNames.push(name);
      isDisposed = true;
    },
  };
}

const REQUEST = {
  principal: { type: 'Caller', id: 'caller' },
  action: { type: 'Action', id: 'call' },
  validateRequest: true,
  entities: [],
} as const satisfies Partial<Cedar.StatefulAuthorizationCall>;

function evaluate(call: Cedar.StatefulAuthorizationCall): Evaluation {
  try {
    const answer = cedar.statefulIsAuthorized(call);
    if (answer.type === 'failure') return denied(answer.errors.map(({ message }) => ({ message })));
    const { decision, diagnostics } = answer.response;
    const errors = diagnostics.errors.map(({ policyId, error }) => ({ policy: policyId, message: error.message }));
    return errors.length > 0 ? denied(errors) : { decision, policies: diagnostics.reason, errors };
  } catch (error) {
    return denied([{ message: error instanceof Error ? error.message : String(error) }]);
  }
}

function denied(errors: Evaluation['errors']): Evaluation {
  return {
    decision: 'deny',
    policies: [],
    errors: errors.length > 0 ? errors : [{ message: 'the evaluation failed' }],
  };
}

/** What Cedar's strict validator finds in compiled policies. `errors` mean a fault of our compiler; `warnings` are for the rules' author. */
export function validateSlice(slice: Slice): {
  readonly errors: readonly string[];
  readonly warnings: readonly string[];
} {
  const answer = cedar.validate({ schema: schemaOf(slice), policies: { staticPolicies: textsOf(slice.policies) } });
  if (answer.type === 'failure') throw notOurs(answer.errors);
  return {
    errors: answer.validationErrors.map(({ error }) => error.message),
    warnings: answer.validationWarnings.map(({ error }) => error.message),
  };
}

function textsOf(policies: readonly CedarPolicy[]): Record<string, string> {
  return Object.fromEntries(policies.map(({ id, text }) => [id, text]));
}

function notOurs(errors: readonly Cedar.DetailedError[]): InvariantViolationError {
  return new InvariantViolationError('invariant-violated', 'Cedar refuses what the policy compiler made', {
    details: { errors: errors.map(({ message }) => message) },
  });
}
