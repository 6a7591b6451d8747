import { hkdfSync, randomBytes } from 'node:crypto';
import type pg from 'pg';
import { connectClient } from './client.js';
import type { DatabaseConfig } from './database-config.js';
import { lockKey } from './lock-key.js';
import { toDatabaseError } from './database-error.js';
import { identifier, literal } from './identifier.js';

export interface ServiceDatabase {
  readonly schema: string;
  /** Default `<database>_<schema>`: roles are shared by all databases of a server. */
  readonly role?: string;
}

/**
 * Gives a service its schema and a role that owns it and sees no other service's. Safe to repeat and to run from several processes.
 * The role's password is derived from the administrator's, so that repeating it does not lock a running service out; an administrator
 * without a password (trusted connections) gets a random one each time.
 * @param admin a superuser, or a role that may create roles and create schemas in this database
 * @returns the config that the service connects with
 */
export async function provisionServiceDatabase(
  admin: DatabaseConfig,
  service: ServiceDatabase,
): Promise<DatabaseConfig> {
  const schema = identifier(service.schema, 'schema');
  const role = identifier(service.role ?? `${admin.database}_${schema}`.slice(0, 63), 'role');
  const password = rolePassword(admin, role);
  const client = await connectClient(admin, { name: 'lineclear provision', onError: () => undefined });
  try {
    await client.query('BEGIN');
    await client.query('SELECT pg_advisory_xact_lock($1, $2)', [...lockKey('provision')]);
    await createRole(client, role, password);
    await createSchema(client, schema, role);
    await client.query(`ALTER ROLE ${role} IN DATABASE ${quoted(admin.database)} SET search_path = ${schema}`);
    await client.query('COMMIT');
  } catch (error) {
    throw toDatabaseError(error, admin);
  } finally {
    await client.end().catch(() => undefined);
  }
  return { ...admin, user: role, password, schema };
}

async function createRole(client: pg.Client, role: string, password: string): Promise<void> {
  const { rowCount } = await client.query('SELECT 1 FROM pg_roles WHERE rolname = $1', [role]);
  const statement = rowCount === 0 ? `CREATE ROLE ${role} NOSUPERUSER NOCREATEDB NOCREATEROLE` : `ALTER ROLE ${role}`;
  await client.query(`${statement} LOGIN PASSWORD ${literal(password)}`);
  await client.query(`GRANT ${role} TO CURRENT_USER`);
}

async function createSchema(client: pg.Client, schema: string, role: string): Promise<void> {
  await client.query(`CREATE SCHEMA IF NOT EXISTS ${schema} AUTHORIZATION ${role}`);
  await client.query(`ALTER SCHEMA ${schema} OWNER TO ${role}`);
  await client.query(`REVOKE ALL ON SCHEMA ${schema} FROM PUBLIC`);
}

function rolePassword(admin: DatabaseConfig, role: string): string {
  if (admin.password === '') return randomBytes(24).toString('base64url');
  return Buffer.from(hkdfSync('sha256', admin.password, 'lineclear role', role, 24)).toString('base64url');
}

function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}
