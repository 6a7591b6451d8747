import { describe, expect, it } from 'vitest';
import { matchesGlob } from './glob.js';

describe('glob', () => {
  it.each([
    ['erp.get_*', 'erp.get_po', true],
    ['erp.get_*', 'erp.get_', true],
    ['erp.get_*', 'erp.Get_po', false],
    ['*', '', true],
    ['*', 'anything.at all', true],
    ['erp.*.x', 'erp.a.x', true],
    ['erp.*.x', 'erp.x', false],
    ['a*a', 'a', false],
    ['a*b*c', 'a-bb-c', true],
    ['a*b*c', 'acb', false],
    ['a**b', 'ab', true],
    ['*b*b', 'b', false],
    ['erp.post', 'erp.post', true],
    ['erp.post', 'erp.post ', false],
    ['erp.p.st', 'erp.post', false],
  ])('%s against %s is %s', (pattern, text, expected) => {
    expect(matchesGlob(pattern, text)).toBe(expected);
  });

  it('takes linear time for many wildcards', () => {
    expect(matchesGlob(`${'*a'.repeat(500)}*b`, 'a'.repeat(50_000))).toBe(false);
  });
});
