import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { aliasOf, canonicalName } from './alias.js';

const server = fc.stringMatching(/^[a-z][a-z0-9-]{0,8}$/);
const tool = fc.oneof(fc.string({ minLength: 1, maxLength: 200 }), fc.stringMatching(/^[A-Za-z0-9_.-]{1,80}$/));

describe('aliasOf', () => {
  it('keeps a short plain name', () => {
    expect(aliasOf('erp.get_po')).toBe('erp_get_po');
  });

  it('tells apart names that are equal where they are cut (B08)', () => {
    const names = ['createConfluencePage', 'deleteConfluencePage'].map(
      (verb) => `wiki.${verb}WithAttachmentsAndPermissionsAndManyMoreWords`,
    );
    const aliases = names.map(aliasOf);
    expect(new Set(aliases).size).toBe(2);
    expect(aliases.every((alias) => alias.length <= 64)).toBe(true);
  });

  it.each([
    ['srv.a.b', 'srv.a_b'],
    ['srv.a b', 'srv.a_b'],
    ['srv.ü', 'srv._'],
    ['srv.a', 'srv-a.b'],
    ['srv.A', 'srv.a'],
    ['read.result', 'read_result'],
  ])('of %s and %s differ', (a, b) => {
    expect(aliasOf(a)).not.toBe(aliasOf(b));
  });

  it('cannot be taken by a tool that is named like it', () => {
    const hashed = aliasOf('srv.ü');
    expect(aliasOf(`srv.${hashed.slice('srv_'.length)}`)).not.toBe(hashed);
  });

  it('is unique, within the limits of providers, and the same each time', () => {
    fc.assert(
      fc.property(
        fc.uniqueArray(fc.tuple(server, tool), { maxLength: 20, selector: (pair) => canonicalName(...pair) }),
        (pairs) => {
          const aliases = pairs.map((pair) => aliasOf(canonicalName(...pair)));
          expect(new Set(aliases).size).toBe(pairs.length);
          for (const alias of aliases) expect(alias).toMatch(/^[A-Za-z0-9_-]{1,64}$/);
        },
      ),
    );
  });
});
