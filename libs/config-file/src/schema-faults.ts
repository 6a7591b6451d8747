import type { ConfigFault } from '@lineclear/errors';
import type { z } from 'zod';
import { knownKeys } from './known-keys.js';
import type { Path, YamlText } from './yaml-text.js';

type Issue = z.core.$ZodIssue;

/** Explains why the document does not match its schema, one fault per thing to correct, each at its place in the file. */
export function schemaFaults(yaml: YamlText, schema: z.ZodType, issues: readonly Issue[]): readonly ConfigFault[] {
  return issues.flatMap((issue) => faultsOf(yaml, schema, issue, []));
}

function faultsOf(yaml: YamlText, schema: z.ZodType, issue: Issue, parent: Path): readonly ConfigFault[] {
  const path = [...parent, ...issue.path];
  if (issue.code === 'unrecognized_keys') {
    const known = knownKeys(schema, path);
    return issue.keys.map((key) => ({
      ...yaml.place(path, key),
      what: `key \`${key}\` is not known${path.length === 0 ? '' : ` in \`${dotted(path)}\``}`,
      ...(known.length === 0 ? {} : { expected: `one of ${known.join(', ')}` }),
      next: 'correct or remove it',
    }));
  }
  if (issue.code === 'invalid_union' && issue.errors.length > 0) {
    const allAtRoot = issue.errors.every((branch) => branch.some((inner) => isRootMismatch(inner)));
    if (!allAtRoot) return nearestBranch(issue.errors).flatMap((inner) => faultsOf(yaml, schema, inner, path));
    const expected = [...new Set(issue.errors.flatMap((branch) => branch.map((inner) => expectation(inner))))].join(
      ' or ',
    );
    return [valueFault(yaml, path, `\`${dotted(path)}\` does not fit`, expected)];
  }
  return [plainFault(yaml, path, issue)];
}

function plainFault(yaml: YamlText, path: Path, issue: Issue): ConfigFault {
  const name = path.length === 0 ? 'the document' : `\`${dotted(path)}\``;
  const expected = expectation(issue);
  if (issue.code === 'custom') return { ...yaml.place(path), what: `${name}: ${issue.message}`, ...seenOf(yaml, path) };
  if (path.length > 0 && yaml.seen(path) === undefined) {
    return { ...yaml.place(path), what: `key ${name} is missing`, expected, next: 'add it' };
  }
  if (path.at(-1) === 'version' && issue.code === 'invalid_value') {
    return {
      ...valueFault(yaml, path, 'this version of the file is not known', expected),
      next: 'use a release that knows it, or rewrite the file',
    };
  }
  return valueFault(yaml, path, `${name} does not fit`, expected);
}

function valueFault(yaml: YamlText, path: Path, what: string, expected: string): ConfigFault {
  return { ...yaml.place(path), what, ...seenOf(yaml, path), expected, next: 'correct it' };
}

function seenOf(yaml: YamlText, path: Path): Pick<ConfigFault, 'seen'> {
  const seen = yaml.seen(path);
  return seen === undefined ? {} : { seen };
}

/** The branch of a union that the author most likely meant: right kind first, then fewest unknown keys, then fewest issues. */
function nearestBranch(branches: readonly (readonly Issue[])[]): readonly Issue[] {
  const distance = (branch: readonly Issue[]) =>
    branch.reduce(
      (sum, issue) =>
        sum + (isRootMismatch(issue) ? 1_000 : issue.code === 'unrecognized_keys' ? 10 * issue.keys.length : 1),
      0,
    );
  return branches.reduce((best, branch) => (distance(branch) < distance(best) ? branch : best));
}

function isRootMismatch(issue: Issue): boolean {
  return issue.path.length === 0 && issue.code !== 'unrecognized_keys';
}

const KINDS: Readonly<Record<string, string>> = {
  object: 'a mapping',
  record: 'a mapping',
  array: 'a list',
  int: 'an integer',
  number: 'a number',
  string: 'text',
  boolean: 'true or false',
};

function expectation(issue: Issue): string {
  switch (issue.code) {
    case 'invalid_type':
      return KINDS[issue.expected] ?? issue.expected;
    case 'invalid_value':
      return issue.values.length === 1 ? String(issue.values[0]) : `one of ${issue.values.map(String).join(', ')}`;
    case 'too_small':
      return `${issue.inclusive === false ? 'more than' : 'at least'} ${issue.minimum}${unit(issue.origin)}`;
    case 'too_big':
      return `${issue.inclusive === false ? 'less than' : 'at most'} ${issue.maximum}${unit(issue.origin)}`;
    case 'invalid_format':
      return issue.pattern === undefined ? issue.format : `text that matches ${issue.pattern}`;
    default:
      return issue.message.charAt(0).toLowerCase() + issue.message.slice(1);
  }
}

function unit(origin: string): string {
  return origin === 'string' ? ' characters' : origin === 'array' || origin === 'set' ? ' entries' : '';
}

function dotted(path: Path): string {
  return path
    .map((part, at) => (typeof part === 'number' ? `[${part}]` : `${at === 0 ? '' : '.'}${String(part)}`))
    .join('');
}
