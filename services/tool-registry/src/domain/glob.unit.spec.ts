import { describe, expect, it } from 'vitest';
import { matchesGlob } from './glob.js';

describe('matchesGlob', () => {
  it.each([
    ['erp.*', 'erp.get_po'],
    ['erp.get_*', 'erp.get_po'],
    ['*', 'erp.get_po'],
    ['*.get_*', 'erp.get_po'],
    ['read_result', 'read_result'],
    ['a*b*c', 'a1b2b3c'],
    ['a**c', 'ac'],
  ])('%s fits %s', (pattern, name) => {
    expect(matchesGlob(pattern, name)).toBe(true);
  });

  it.each([
    ['erp.*', 'erp-2.get_po'],
    ['erp.get_*', 'erp.post'],
    ['erp', 'erp.get_po'],
    ['ab*ba', 'aba'],
    ['a*b*c', 'acb'],
    ['e?p.*', 'erp.x'],
    ['ERP.*', 'erp.x'],
  ])('%s does not fit %s', (pattern, name) => {
    expect(matchesGlob(pattern, name)).toBe(false);
  });

  it('stays fast on a hostile pattern', () => {
    expect(matchesGlob(`${'a*'.repeat(5_000)}b`, 'a'.repeat(100_000))).toBe(false);
  });
});
