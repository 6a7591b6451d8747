import { ConfigError } from '@lineclear/errors';
import { identifier } from './identifier.js';

/** `off`: plain text; `on`: encrypted, certificate not checked; `verified`: encrypted and checked. */
export type Tls = 'off' | 'on' | 'verified';

/** One service's place in a PostgreSQL: everything it reads and writes is in `schema`. */
export interface DatabaseConfig {
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly password: string;
  readonly database: string;
  readonly schema: string;
  readonly tls: Tls;
}

const TLS_BY_MODE: Readonly<Record<string, Tls>> = {
  disable: 'off',
  prefer: 'off',
  require: 'on',
  'verify-ca': 'verified',
  'verify-full': 'verified',
};

/**
 * Reads `postgres://user:password@host:port/database?sslmode=…&schema=…`.
 * @param options.where name of the variable, for messages; default `DATABASE_URL`. `schema` wins over the one in the URL; default `public`
 * @throws ConfigError, which never shows the password
 */
export function parseDatabaseUrl(
  url: string,
  options: { readonly where?: string; readonly schema?: string } = {},
): DatabaseConfig {
  const where = options.where ?? 'DATABASE_URL';
  const fault = (what: string, expected: string, seen?: string) =>
    new ConfigError([
      { where, what, ...(seen === undefined ? {} : { seen: `\`${seen}\`` }), expected, next: 'correct it' },
    ]);
  const parsed = URL.parse(url.trim());
  if (parsed === null || !['postgres:', 'postgresql:'].includes(parsed.protocol)) {
    throw fault('this is not the address of a PostgreSQL', '`postgres://user:password@host:port/database`');
  }
  const database = decodeURIComponent(parsed.pathname.slice(1));
  if (parsed.hostname === '') throw fault('the host is missing', 'a host name or address after `@`');
  if (database === '' || database.includes('/')) throw fault('the database is missing', 'one name after the `/`');
  for (const name of parsed.searchParams.keys()) {
    if (name !== 'sslmode' && name !== 'schema')
      throw fault('the parameter is not known', '`sslmode` or `schema`', name);
  }
  const mode = parsed.searchParams.get('sslmode') ?? 'prefer';
  const tls = TLS_BY_MODE[mode];
  if (tls === undefined) throw fault('the sslmode is not known', Object.keys(TLS_BY_MODE).join(', '), mode);
  return {
    host: parsed.hostname.replace(/^\[|\]$/g, ''),
    port: Number(parsed.port || 5432),
    user: decodeURIComponent(parsed.username) || 'postgres',
    password: decodeURIComponent(parsed.password),
    database,
    schema: identifier(options.schema ?? parsed.searchParams.get('schema') ?? 'public', where),
    tls,
  };
}

/** The options that every connection of the product shares, for pg and TypeORM alike. The search path is the schema alone. */
export function connectionOptions(config: DatabaseConfig, settings: Readonly<Record<string, string>> = {}) {
  const assignments = Object.entries({ search_path: config.schema, ...settings });
  return {
    host: config.host,
    port: config.port,
    user: config.user,
    password: config.password,
    database: config.database,
    ssl: config.tls === 'off' ? false : { rejectUnauthorized: config.tls === 'verified' },
    keepAlive: true,
    connectionTimeoutMillis: 10_000,
    options: assignments.map(([name, value]) => `-c ${name}=${value}`).join(' '),
  };
}
