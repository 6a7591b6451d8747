import { describe, expect, it } from 'vitest';
import { effectiveRoles } from './effective-roles.js';
import { loadProducers, parseProducers } from './producers.js';

const text = `version: 1
producers:
  - {source: /erp/inbox, tenant: acme, subject: inbox, roles: [ap-clerk]}
  - {source: /erp/*, tenant: acme, subject: erp, roles: []}
  - {source: /erp/bank/*, tenant: acme, subject: bank, roles: [treasury], scopes: [pay]}
`;

describe('producers', () => {
  const producers = parseProducers(text, 'producers.yaml');

  it.each([
    ['/erp/inbox', 'inbox'],
    ['/erp/inbox/2', 'erp'],
    ['/erp/', 'erp'],
    ['/erp/bank/1', 'bank'],
    ['/erp', undefined],
    ['/other', undefined],
    ['', undefined],
    ['/erp/*', 'erp'],
    ['__proto__', undefined],
  ])('vouch for source `%s` as %s', (source, subject) => {
    expect(producers.principalOf(source)?.subject).toBe(subject);
  });

  it('give the whole principal', () => {
    expect(producers.principalOf('/erp/bank/1')).toEqual({
      tenant: 'acme',
      subject: 'bank',
      roles: ['treasury'],
      scopes: ['pay'],
    });
  });

  it.each([
    [
      'a source named twice',
      text.replace('/erp/*,', '/erp/inbox,'),
      'producers.yaml:4:14: source `/erp/inbox` is named twice',
    ],
    [
      'an unknown key',
      text.replace('subject: inbox', 'subjekt: inbox'),
      'producers.yaml:3:40: key `subjekt` is not known in `producers[0]`; expected one of source, tenant, subject, roles, scopes',
    ],
    [
      'a star in the middle',
      text.replace('/erp/*,', '/*/x,'),
      'producers.yaml:4:14: `producers[1].source` does not fit',
    ],
    [
      'a wrong type',
      text.replace('[treasury]', 'treasury'),
      'producers.yaml:5:63: `producers[2].roles` does not fit; seen `treasury`; expected a list',
    ],
    [
      'an unknown version',
      text.replace('version: 1', 'version: 3'),
      'producers.yaml:1:10: this version of the file is not known',
    ],
  ])('refuse %s with its place', (_, broken, message) => {
    expect(() => parseProducers(broken, 'producers.yaml')).toThrow(message);
  });

  it('name a file that cannot be read', async () => {
    await expect(loadProducers('/nowhere/producers.yaml')).rejects.toThrow(
      '/nowhere/producers.yaml: the file cannot be read; seen `ENOENT`',
    );
  });
});

describe('effectiveRoles', () => {
  it('are those that both the caller and the agent have', () => {
    expect(effectiveRoles(['a', 'b', 'b'], ['b', 'c'])).toEqual(['b']);
    expect(effectiveRoles(['a'], [])).toEqual([]);
    expect(effectiveRoles([], ['a'])).toEqual([]);
  });
});
