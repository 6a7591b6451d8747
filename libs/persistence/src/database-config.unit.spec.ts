import { ConfigError } from '@lineclear/errors';
import { describe, expect, it } from 'vitest';
import { connectionOptions, parseDatabaseUrl } from './database-config.js';
import { identifier } from './identifier.js';

function messageOf(work: () => unknown): string {
  try {
    work();
  } catch (error) {
    if (error instanceof ConfigError) return error.message;
    throw error;
  }
  return 'nothing was thrown';
}

describe('parseDatabaseUrl', () => {
  it('reads every part', () => {
    expect(
      parseDatabaseUrl('postgres://us%40er:p%2Fw%3A@db.example:6000/clear?sslmode=verify-full&schema=runs'),
    ).toEqual({
      host: 'db.example',
      port: 6000,
      user: 'us@er',
      password: 'p/w:',
      database: 'clear',
      schema: 'runs',
      tls: 'verified',
    });
  });

  it('fills port, user, schema and tls', () => {
    expect(parseDatabaseUrl(' postgresql://localhost/clear\n')).toMatchObject({
      port: 5432,
      user: 'postgres',
      password: '',
      schema: 'public',
      tls: 'off',
    });
  });

  it('lets the caller choose the schema', () => {
    expect(parseDatabaseUrl('postgres://h/d?schema=a', { schema: 'b' }).schema).toBe('b');
  });

  it.each([
    ['mysql://h/d', 'not the address'],
    ['not a url', 'not the address'],
    ['', 'not the address'],
    ['postgres://h', 'the database is missing'],
    ['postgres://h/a/b', 'the database is missing'],
    ['postgres:///d', 'the host is missing'],
    ['postgres://u:hunter2@h/d?sslmod=require', 'the parameter is not known'],
    ['postgres://u:hunter2@h/d?sslmode=maybe', 'the sslmode is not known'],
    ['postgres://u:hunter2@h/d?schema=a%3Bdrop', 'cannot be used'],
  ])('refuses %s without showing the password', (url, what) => {
    const message = messageOf(() => parseDatabaseUrl(url, { where: 'ORDERS_URL' }));
    expect(message).toContain(what);
    expect(message).toMatch(/^ORDERS_URL: /);
    expect(message).not.toContain('hunter2');
  });
});

describe('connectionOptions', () => {
  it('sets the search path to the schema alone, and checks certificates when asked', () => {
    const config = parseDatabaseUrl('postgres://h/d?schema=runs&sslmode=verify-full');
    expect(connectionOptions(config, { plan_cache_mode: 'force_generic_plan' })).toMatchObject({
      options: '-c search_path=runs -c plan_cache_mode=force_generic_plan',
      ssl: { rejectUnauthorized: true },
    });
  });
});

describe('identifier', () => {
  it.each(['', 'A', 'a-b', 'a"b', '1a', 'a'.repeat(64)])('refuses `%s`', (name) => {
    expect(() => identifier(name, 'schema')).toThrow(ConfigError);
  });
});
