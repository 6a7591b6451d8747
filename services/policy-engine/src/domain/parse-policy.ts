import { parseLocatedConfigFile } from '@lineclear/config-file';
import { ConfigError, type ConfigFault } from '@lineclear/errors';
import { toCondition } from './condition.js';
import { durationMs } from './duration.js';
import { policyFileSchema, type RuleEntry, type TestCase } from './policy-file.js';
import type { Condition, Demand, Effect, Rule } from './rule.js';

/** A policy file that was read; places are kept for what only the whole set can judge. */
export interface ParsedPolicy {
  readonly file: string;
  readonly name: string;
  readonly rules: readonly Rule[];
  readonly tests: readonly TestCase[];
  /** Completes a fault of the n-th rule or test with its place. */
  readonly faultAt: (list: 'rules' | 'tests', index: number, fault: Omit<ConfigFault, 'where'>) => ConfigFault;
}

const DEFAULT_EXPIRES = '24h';
const DEFAULT_VALID_FOR = '15m';
const EFFECTS = ['allow', 'ask', 'deny'] as const satisfies readonly Effect[];
const ONLY_FOR: readonly (readonly [keyof RuleEntry, Effect])[] = [
  ['approvers', 'ask'],
  ['fourEyes', 'ask'],
  ['expires', 'ask'],
  ['validFor', 'ask'],
  ['terminal', 'deny'],
];

/**
 * Reads one policy file. Pure.
 * @throws ConfigError listing every fault with line and column: unknown keys or version, rules without a single effect, misspelt traits,
 *   comparisons of the wrong type, ranges that nothing can meet
 */
export function parsePolicy(text: string, file: string): ParsedPolicy {
  const { value, faultAt } = parseLocatedConfigFile(text, { file, schema: policyFileSchema });
  const faults: ConfigFault[] = [];
  const rules = value.rules.map((entry, index) =>
    toRule(entry, (fault, path = [], key) => {
      faults.push(faultAt(['rules', index, ...path], fault, key));
    }),
  );
  const [first, ...rest] = faults;
  if (first !== undefined) throw new ConfigError([first, ...rest]);
  return {
    file,
    name: value.policy,
    rules,
    tests: value.tests,
    faultAt: (list, index, fault) => faultAt([list, index], fault),
  };
}

type Report = (fault: Omit<ConfigFault, 'where'>, path?: readonly PropertyKey[], key?: string) => void;

function toRule(entry: RuleEntry, report: Report): Rule {
  const effects = EFFECTS.filter((name) => entry[name] !== undefined);
  const [effect = 'deny'] = effects;
  if (effects.length !== 1) {
    report({
      what: `rule \`${entry.id}\` has ${effects.length === 0 ? 'no effect' : `${effects.length} effects`}`,
      expected: 'exactly one of allow, ask, deny',
      next: effects.length === 0 ? 'add it' : 'make it two rules',
    });
  }
  for (const [key, needed] of ONLY_FOR) {
    if (entry[key] !== undefined && effect !== needed) {
      report({ what: `\`${key}\` means nothing in a rule that says ${effect}`, next: 'remove it' }, [], key);
    }
  }
  return {
    id: entry.id,
    effect,
    tool: entry[effect] ?? '',
    roles: [...new Set(entry.roles)].toSorted(),
    conditions: toConditions(entry, report),
    ...(effect === 'ask' ? { demand: toDemand(entry) } : {}),
    terminal: entry.terminal ?? false,
  };
}

function toConditions(entry: RuleEntry, report: Report): Condition[] {
  const conditions = new Map<string, Condition>();
  for (const [name, operators] of Object.entries(entry.where ?? {})) {
    const condition = toCondition(name, operators);
    if ('fault' in condition) report(condition.fault, ['where'], name);
    else if (conditions.has(condition.ok.attribute.name))
      report({ what: `\`${condition.ok.attribute.name}\` is named twice`, next: 'join the two' }, ['where'], name);
    else conditions.set(condition.ok.attribute.name, condition.ok);
  }
  return [...conditions.values()].toSorted((a, b) => (a.attribute.name < b.attribute.name ? -1 : 1));
}

function toDemand(entry: RuleEntry): Demand {
  return {
    approvers: [...new Set(entry.approvers)].toSorted(),
    fourEyes: entry.fourEyes ?? false,
    expiresMs: durationMs(entry.expires ?? DEFAULT_EXPIRES) ?? 0,
    validForMs: durationMs(entry.validFor ?? DEFAULT_VALID_FOR) ?? 0,
  };
}
