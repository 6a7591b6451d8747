import { ConfigError } from '@lineclear/errors';
import { describe, expect, it } from 'vitest';
import { toPolicySet } from './policy-set.js';

const file = (rules: string, rest = '') => `policy: p\nversion: 1\nrules:\n${rules}\n${rest}`;

function faultsOf(text: string): readonly string[] {
  try {
    toPolicySet([{ file: 'p.yaml', text }]);
    return [];
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return error.message.split('\n');
  }
}

describe('policy file', () => {
  it.each([
    ['an unknown key', '  - {id: a, allow: x.y, wher: {}}', /^p\.yaml:4:25: key `wher` is not known in `rules\[0\]`/],
    ['no effect', '  - {id: a, roles: [r]}', /^p\.yaml:4:5: rule `a` has no effect; expected exactly one of allow/],
    ['two effects', '  - {id: a, allow: x.y, deny: x.z}', /^p\.yaml:4:5: rule `a` has 2 effects/],
    [
      'a key of another effect',
      '  - {id: a, allow: x.y, fourEyes: true}',
      /^p\.yaml:4:25: `fourEyes` means nothing in a rule/,
    ],
    [
      'an impossible range',
      '  - {id: a, allow: x.y, where: {n: {min: 2, max: 1}}}',
      /^p\.yaml:4:33: no value of `n` can meet/,
    ],
    ['an empty list', '  - {id: a, allow: x.y, where: {n: {in: []}}}', /^p\.yaml:4:\d+: /],
    [
      'a misspelt trait',
      '  - {id: a, allow: x.y, where: {tool.leaveSystem: true}}',
      /`tool\.leaveSystem` is not known; expected one of tool\.write/,
    ],
    ['a misspelt label', '  - {id: a, allow: x.y, where: {label.secrecy: x}}', /`label\.secrecy` is not known/],
    [
      'a label value that does not exist',
      '  - {id: a, allow: x.y, where: {label.integrity: trustd}}',
      /never has this value; seen `trustd`; expected one of trusted, untrusted/,
    ],
    [
      'a trait of another type',
      '  - {id: a, allow: x.y, where: {tool.write: {min: 3}}}',
      /`tool\.write` is true or false; seen a comparison with an integer/,
    ],
    ['mixed operators', '  - {id: a, allow: x.y, where: {n: {min: 1, equals: 2}}}', /mixes/],
    ['mixed types', '  - {id: a, allow: x.y, where: {n: {in: [1, "1"]}}}', /mixes texts, integers and booleans/],
    ['nothing asked', '  - {id: a, allow: x.y, where: {n: {}}}', /`n` asks for nothing/],
    [
      'value and absence',
      '  - {id: a, allow: x.y, where: {n: {present: false, max: 1}}}',
      /asks for a value and for its absence/,
    ],
    [
      'one argument named twice',
      '  - {id: a, allow: x.y, where: {n: 1, arguments.n: 2}}',
      /`arguments\.n` is named twice/,
    ],
    ['a fraction', '  - {id: a, allow: x.y, where: {n: {max: 0.5}}}', /^p\.yaml:4:\d+: /],
    ['a number beyond 2^53', '  - {id: a, allow: x.y, where: {n: {max: 9007199254740993}}}', /^p\.yaml:4:\d+: /],
    ['null', '  - {id: a, allow: x.y, where: {n: null}}', /^p\.yaml:4:\d+: /],
    ['a time too short', '  - {id: a, ask: x.y, expires: 1s}', /must be a time from 30s to 30d/],
    ['a time without unit', '  - {id: a, ask: x.y, validFor: 60}', /^p\.yaml:4:\d+: /],
    ['a glob with a space', '  - {id: a, allow: "x.y "}', /^p\.yaml:4:\d+: /],
    [
      'one id twice',
      '  - {id: a, allow: x.y}\n  - {id: a, deny: x.y}',
      /^p\.yaml:5:5: rule id `a` is used twice; seen also in p\.yaml/,
    ],
    [
      'an id of the shipped policy',
      '  - {id: built-in.read_result, allow: "*"}',
      /is used twice; seen also in built-in/,
    ],
  ])('refuses %s with its place', (_, rules, expected) => {
    const faults = faultsOf(file(rules));
    expect(faults).toHaveLength(1);
    expect(faults[0]).toMatch(expected);
  });

  it('refuses an unknown version of the format', () => {
    expect(faultsOf('policy: p\nversion: 2\nrules: []\n')[0]).toMatch(
      /^p\.yaml:2:10: this version of the file is not known/,
    );
  });

  it('names every fault of every file at once', () => {
    const bad = file('  - {id: a, allow: x.y, where: {tool.x: 1, n: {min: 2, max: 1}}}');
    expect(faultsOf(bad)).toHaveLength(2);
    expect(() =>
      toPolicySet([
        { file: 'a.yaml', text: bad },
        { file: 'b.yaml', text: 'x' },
      ]),
    ).toThrow(/a\.yaml:4[\s\S]*b\.yaml:1/);
  });

  it('warns of a set that only denies, and says what it does', () => {
    const set = toPolicySet([{ file: 'p.yaml', text: file('  - {id: echo, deny: x.echo}') }]);
    expect(set.warnings).toEqual([expect.stringMatching(/all rules say deny, so every call is denied/)]);
  });

  it('hashes what a set means: not comments, the order of keys, rules and files, or tests', () => {
    const one = '  - {id: a, allow: x.y, where: {n: 1, m: 2}}\n  - {id: b, deny: x.z}';
    const two = '  - {id: b, deny: x.z} # no\n  - {allow: x.y, id: a, where: {m: 2, n: 1}}';
    const hash = (rules: string, rest?: string) => toPolicySet([{ file: 'f', text: file(rules, rest) }]).hash;
    expect(hash(two, 'tests: [{call: x.z, expect: deny}]')).toBe(hash(one));
    expect(hash(one.replace('n: 1', 'n: 3'))).not.toBe(hash(one));
    expect(hash(one.replace('deny: x.z', 'deny: x.z, terminal: true'))).not.toBe(hash(one));
  });
});
