import type { Label, ToolTraits } from '@lineclear/contracts';
import { ConfigError } from '@lineclear/errors';
import { type CatalogTool, catalogWarnings } from '../domain/catalog-warnings.js';
import { suggestRule } from '../domain/explain.js';
import type { CallFacts } from '../domain/facts.js';
import type { PolicyText } from '../domain/policy-set.js';
import type { Effect } from '../domain/rule.js';
import { ASSUMED_TRAITS } from '../domain/traits.js';
import { ActiveSet } from './active-set.js';

/** A call that somebody wants to know the verdict of; nothing runs. */
export interface CheckedCall {
  readonly call: string;
  readonly roles: readonly string[];
  readonly arguments: Readonly<Record<string, unknown>>;
  readonly approved?: boolean | undefined;
  readonly labels?: { readonly [K in keyof Label]?: Label[K] | undefined } | undefined;
  /** what the catalog knows; undefined: assumed */
  readonly traits?: ToolTraits | undefined;
}

export interface CallCheck {
  readonly verdict: Effect;
  /** determining rules */
  readonly rules: readonly string[];
  /** why something could not be judged, or what is wrong with the policy text; then the verdict is deny */
  readonly errors: readonly string[];
  readonly warnings: readonly string[];
  readonly reason: string;
  readonly policyVersion: number;
  /** when nothing matched: a rule that would allow the call */
  readonly suggestion?: string;
}

/** The verdict of a set on one call. With a catalog, rules that no tool of it can meet are warned of. */
export function checkCall(set: ActiveSet, checked: CheckedCall, catalog: readonly CatalogTool[] = []): CallCheck {
  const facts: CallFacts = {
    tool: checked.call,
    roles: checked.roles,
    arguments: checked.arguments,
    traits: checked.traits ?? ASSUMED_TRAITS,
    label: {
      confidentiality: checked.labels?.confidentiality ?? 'internal',
      integrity: checked.labels?.integrity ?? 'trusted',
    },
  };
  const { verdict, rules, reason, errors } = set.judge(facts);
  return {
    verdict: verdict === 'ask' && checked.approved === true ? 'allow' : verdict,
    rules,
    errors: errors.map(({ rule, message }) => (rule === undefined ? message : `rule \`${rule}\`: ${message}`)),
    warnings: [...set.warnings, ...catalogWarnings(set.set.rules, catalog)],
    reason,
    policyVersion: set.version,
    ...(rules.length === 0 && errors.length === 0 ? { suggestion: suggestRule(facts) } : {}),
  };
}

/** The same for policy files that are not in force. Files that cannot be used deny, with their faults as errors. */
export function checkCallAgainst(
  files: readonly PolicyText[],
  checked: CheckedCall,
  catalog: readonly CatalogTool[] = [],
): CallCheck {
  let set: ActiveSet;
  try {
    set = ActiveSet.load(files);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    const errors = error.message.split('\n');
    return { verdict: 'deny', rules: [], errors, warnings: [], reason: 'the policy cannot be used', policyVersion: 0 };
  }
  try {
    return checkCall(set, checked, catalog);
  } finally {
    set.dispose();
  }
}
