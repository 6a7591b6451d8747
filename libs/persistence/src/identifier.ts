import { ConfigError } from '@lineclear/errors';

/**
 * Checks a schema, role or database name, so that it needs no quoting anywhere: lower case, digits, underscore, at most 63 characters.
 * @throws ConfigError
 */
export function identifier(name: string, what: string): string {
  if (/^[a-z_][a-z0-9_]{0,62}$/.test(name)) return name;
  throw new ConfigError([
    {
      where: what,
      what: 'the name cannot be used in PostgreSQL',
      seen: `\`${name.slice(0, 80)}\``,
      expected: 'lower-case letters, digits and underscores, at most 63',
      next: 'choose another name',
    },
  ]);
}

/** Quotes a text as an SQL literal, for statements that take no parameters. */
export function literal(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}
