import { contentHash } from '@lineclear/contracts';
import { ConfigError, type ConfigFault } from '@lineclear/errors';
import { BUILT_IN_POLICY } from './built-in-policy.js';
import { type CedarPolicy, toCedar } from './cedar-text.js';
import { parsePolicy, type ParsedPolicy } from './parse-policy.js';
import type { Rule } from './rule.js';
import type { TestCase } from './policy-file.js';

export interface PolicyText {
  /** as the user knows it */
  readonly file: string;
  readonly text: string;
}

/** All policy files together with the shipped one, read and compiled; nothing has been evaluated yet. */
export interface PolicySet {
  /** SHA-256 of the compiled policies and rules: comments, order of files and tests do not change it */
  readonly hash: string;
  readonly rules: readonly Rule[];
  readonly policies: readonly CedarPolicy[];
  readonly tests: readonly LocatedTest[];
  /** what is allowed and probably not meant */
  readonly warnings: readonly string[];
}

export interface LocatedTest {
  readonly test: TestCase;
  readonly fault: (fault: Omit<ConfigFault, 'where'>) => ConfigFault;
}

/**
 * Joins policy files to one set. Pure.
 * @throws ConfigError listing every fault of every file, rules with one id among them
 */
export function toPolicySet(texts: readonly PolicyText[]): PolicySet {
  const files = parseAll([{ file: 'built-in', text: BUILT_IN_POLICY }, ...texts]);
  const faults = duplicates(files);
  const [first, ...rest] = faults;
  if (first !== undefined) throw new ConfigError([first, ...rest]);
  const rules = files.flatMap((file) => file.rules).toSorted((a, b) => (a.id < b.id ? -1 : 1));
  const policies = rules.flatMap(toCedar);
  const facts = rules.map(({ id, terminal, demand }) => ({ id, terminal, demand: demand ?? null }));
  return {
    hash: contentHash({ policies: policies.map(({ id, text }) => ({ id, text })), facts }),
    rules,
    policies,
    tests: files.flatMap((file) =>
      file.tests.map((test, index) => ({ test, fault: (fault) => file.faultAt('tests', index, fault) })),
    ),
    warnings: warningsOf(files),
  };
}

function parseAll(texts: readonly PolicyText[]): readonly ParsedPolicy[] {
  const files: ParsedPolicy[] = [];
  const faults: ConfigFault[] = [];
  for (const { file, text } of texts) {
    try {
      files.push(parsePolicy(text, file));
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      faults.push(...error.faults);
    }
  }
  const [first, ...rest] = faults;
  if (first !== undefined) throw new ConfigError([first, ...rest]);
  return files;
}

function duplicates(files: readonly ParsedPolicy[]): ConfigFault[] {
  const owners = new Map<string, string>();
  const faults: ConfigFault[] = [];
  for (const file of files) {
    file.rules.forEach((rule, index) => {
      const owner = owners.get(rule.id);
      owners.set(rule.id, owner ?? file.file);
      if (owner === undefined) return;
      const what = `rule id \`${rule.id}\` is used twice`;
      faults.push(file.faultAt('rules', index, { what, seen: `also in ${owner}`, next: 'rename one of them' }));
    });
  }
  return faults;
}

function warningsOf(files: readonly ParsedPolicy[]): string[] {
  const own = files.slice(1).flatMap((file) => file.rules);
  if (own.length === 0) return ['there are no rules, so every call is denied (what nothing allows is denied)'];
  if (own.some((rule) => rule.effect !== 'deny')) return [];
  return ['all rules say deny, so every call is denied (what nothing allows is denied); add what is to be allowed'];
}
