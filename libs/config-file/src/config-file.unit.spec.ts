import { ConfigError } from '@lineclear/errors';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { parseConfigFile, parseLocatedConfigFile } from './config-file.js';

const rule = z.union([
  z.strictObject({ id: z.string(), allow: z.string() }),
  z.strictObject({ id: z.string(), ask: z.string(), minutes: z.int().min(1) }),
]);
const schema = z.strictObject({
  agent: z.string().regex(/^[a-z-]+$/),
  version: z.literal(1),
  budget: z.strictObject({ steps: z.int().positive(), tokens: z.int().optional() }).optional(),
  tools: z.array(z.string()).min(1),
  rules: z.array(rule).default([]),
  secrets: z.record(z.string(), z.strictObject({ token: z.string() })).optional(),
  limit: z.union([z.int(), z.string()]).optional(),
});

function faults(text: string): string[] {
  try {
    parseConfigFile(text, { file: 'a.yaml', schema });
  } catch (error) {
    if (error instanceof ConfigError) return error.message.split('\n');
    throw error;
  }
  return [];
}

const good = 'agent: clerk\nversion: 1\ntools: [erp.*]\n';

describe('parseConfigFile', () => {
  it('returns the value of the schema with its defaults', () => {
    expect(parseConfigFile(good, { file: 'a.yaml', schema })).toEqual({
      agent: 'clerk',
      version: 1,
      tools: ['erp.*'],
      rules: [],
    });
  });

  it('reads JSON too', () => {
    expect(
      parseConfigFile('{"agent": "clerk", "version": 1, "tools": ["x"]}', { file: 'a.json', schema }),
    ).toMatchObject({ agent: 'clerk' });
  });

  it.each([
    [
      'an unknown key',
      `${good}budgets: {}\n`,
      [
        'a.yaml:4:1: key `budgets` is not known; expected one of agent, version, budget, tools, rules, secrets, limit; correct or remove it',
      ],
    ],
    [
      'an unknown nested key',
      `${good}budget: {steps: 1, stepz: 2}\n`,
      ['a.yaml:4:20: key `stepz` is not known in `budget`; expected one of steps, tokens; correct or remove it'],
    ],
    [
      'an unknown version',
      good.replace('version: 1', 'version: 2'),
      [
        'a.yaml:2:10: this version of the file is not known; seen `2` (number); expected 1; use a release that knows it, or rewrite the file',
      ],
    ],
    [
      'a wrong type',
      `${good}budget:\n  steps: "5"\n`,
      ['a.yaml:5:10: `budget.steps` does not fit; seen `5` (string); expected a number; correct it'],
    ],
    [
      'a wrong range',
      `${good}budget:\n  steps: 0\n`,
      ['a.yaml:5:10: `budget.steps` does not fit; seen `0` (number); expected more than 0; correct it'],
    ],
    ['a missing key', 'agent: clerk\nversion: 1\n', ['a.yaml:1:1: key `tools` is missing; expected a list; add it']],
    [
      'a pattern',
      good.replace('clerk', 'Clerk'),
      ['a.yaml:1:8: `agent` does not fit; seen `Clerk`; expected text that matches /^[a-z-]+$/; correct it'],
    ],
    [
      'an empty list',
      good.replace('[erp.*]', '[]'),
      ['a.yaml:3:8: `tools` does not fit; seen a list; expected at least 1 entries; correct it'],
    ],
    [
      'a list instead of the document',
      '- a\n',
      ['a.yaml:1:1: the document does not fit; seen a list; expected a mapping; correct it'],
    ],
    [
      'a union of scalars',
      `${good}limit: true\n`,
      ['a.yaml:4:8: `limit` does not fit; seen `true` (boolean); expected a number or text; correct it'],
    ],
    [
      'a wrong type in a union by its nearest branch',
      `${good}rules:\n  - {id: x, ask: y, minutes: soon}\n`,
      ['a.yaml:5:30: `rules[0].minutes` does not fit; seen `soon`; expected a number; correct it'],
    ],
    [
      'a union by its nearest branch',
      `${good}rules:\n  - {id: x, ask: y, minutes: 0}\n`,
      ['a.yaml:5:30: `rules[0].minutes` does not fit; seen `0` (number); expected at least 1; correct it'],
    ],
    [
      'a key used twice',
      `${good}agent: other\n`,
      ['a.yaml:4:1: map keys must be unique; expected one YAML 1.2 document; correct the syntax'],
    ],
    ['an empty file', '# nothing\n', ['a.yaml:1:1: the file is empty; expected a YAML mapping; fill it or remove it']],
    [
      'two documents',
      `${good}---\n${good}`,
      [expect.stringContaining('a.yaml:4:1: source contains multiple documents')],
    ],
    ['a custom tag', `${good}limit: !!js/function x\n`, [expect.stringMatching(/^a\.yaml:4:8: unresolved tag/)]],
  ])('names the place of %s', (_, text, expected) => {
    expect(faults(text)).toEqual(expected);
  });

  it('lists every fault', () => {
    expect(faults('agent: 1\nversion: 2\ntools: x\n')).toHaveLength(3);
  });

  it('does not show the value of a secret', () => {
    expect(faults(`${good}secrets: {erp: {token: 12345}}\n`).join()).toMatch(/a value that is not shown(?!.*12345)/);
  });

  it('cuts a long value', () => {
    expect(faults(good.replace('clerk', 'X'.repeat(5_000))).join().length).toBeLessThan(250);
  });

  it('refuses an alias bomb quickly', () => {
    const lines = ['a0: &a0 [x,x,x,x,x,x,x,x,x]'];
    for (let n = 1; n < 12; n += 1)
      lines.push(
        `a${n}: &a${n} [${Array(9)
          .fill(`*a${n - 1}`)
          .join(',')}]`,
      );
    expect(faults(lines.join('\n')).join()).toContain('excessive alias count');
  });

  it('does not let a key reach the prototype', () => {
    expect(faults(`${good}__proto__: {polluted: true}\n`).join()).toContain('key `__proto__` is not known');
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
  });
});

describe('parseLocatedConfigFile', () => {
  it('gives places for checks that follow', () => {
    const { faultAt } = parseLocatedConfigFile(`${good}rules:\n  - {id: x, allow: y}\n`, { file: 'a.yaml', schema });
    expect(faultAt(['rules', 0, 'allow'], { what: 'no tool matches' })).toEqual({
      where: 'a.yaml',
      line: 5,
      column: 20,
      what: 'no tool matches',
    });
    expect(faultAt(['rules', 0], { what: 'x' }, 'allow')).toMatchObject({ line: 5, column: 13 });
    expect(faultAt(['budget', 'steps'], { what: 'x' })).toMatchObject({ line: 1, column: 1 });
  });
});
