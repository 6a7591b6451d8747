import { randomUUID } from 'node:crypto';
import { link, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ConfigError } from '@lineclear/errors';
import { connectClient } from './client.js';
import type { DatabaseConfig } from './database-config.js';
import { lockKey } from './lock-key.js';
import { toDatabaseError } from './database-error.js';

/** What every database of one installation agrees on. */
export interface Installation {
  /** UUID. */
  readonly id: string;
  /** How many shards each service has; fixed when the installation is made. */
  readonly shardCount: number;
  readonly productVersion: string;
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/**
 * The installation id kept in `<homeDir>/installation-id`; made when missing, and the first of several starters wins.
 * @throws ConfigError for a file that holds something else, or a folder that cannot be used
 */
export async function readInstallationId(homeDir: string): Promise<string> {
  const file = join(homeDir, 'installation-id');
  const fresh = `${file}.${randomUUID()}`;
  try {
    await mkdir(homeDir, { recursive: true, mode: 0o700 });
    await writeFile(fresh, `${randomUUID()}\n`, { mode: 0o600 });
    await link(fresh, file).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error;
    });
    const id = (await readFile(file, 'utf8')).trim();
    if (UUID.test(id)) return id;
  } catch (cause) {
    throw new ConfigError(
      [
        {
          where: homeDir,
          what: 'the data folder cannot be used',
          seen: `\`${(cause as NodeJS.ErrnoException).code ?? 'unknown'}\``,
          expected: 'a folder that can be created, read and written',
          next: 'correct its permissions, or name another by LINECLEAR_HOME',
        },
      ],
      { code: 'folder-unusable', cause },
    );
  } finally {
    await rm(fresh, { force: true }).catch(() => undefined);
  }
  throw new ConfigError([
    {
      where: file,
      what: 'the installation id is damaged',
      expected: 'a UUID',
      next: 'restore the file; the id is in table `installation` of each database',
    },
  ]);
}

/**
 * Writes the installation into an empty schema, or checks that the schema belongs to it. Call before migrations.
 * @throws ConfigError `database-not-ours` or `wrong-shard-count`
 */
export async function claimDatabase(config: DatabaseConfig, installation: Installation): Promise<void> {
  const client = await connectClient(config, { name: 'lineclear installation', onError: () => undefined });
  try {
    await client.query('BEGIN');
    await client.query('SELECT pg_advisory_xact_lock($1, $2)', [...lockKey(`installation ${config.schema}`)]);
    await client.query(`CREATE TABLE IF NOT EXISTS installation (
      only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
      id uuid NOT NULL, shard_count integer NOT NULL CHECK (shard_count > 0),
      product_version text NOT NULL, created_at timestamptz NOT NULL DEFAULT now())`);
    const values = [installation.id, installation.shardCount, installation.productVersion];
    await client.query(
      'INSERT INTO installation (id, shard_count, product_version) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING',
      values,
    );
    const { rows } = await client.query<{ id: string; shard_count: number }>(
      'SELECT id, shard_count FROM installation',
    );
    const [row] = rows;
    if (row !== undefined) check(config, installation, row);
    await client.query('UPDATE installation SET product_version = $1 WHERE product_version <> $1', [
      installation.productVersion,
    ]);
    await client.query('COMMIT');
  } catch (error) {
    throw toDatabaseError(error, config);
  } finally {
    await client.end().catch(() => undefined);
  }
}

function check(
  config: DatabaseConfig,
  installation: Installation,
  row: { readonly id: string; readonly shard_count: number },
): void {
  const where = `${config.host}:${config.port}/${config.database} schema ${config.schema}`;
  if (row.id !== installation.id) {
    throw new ConfigError(
      [
        {
          where,
          what: 'the database belongs to another installation',
          seen: `\`${row.id}\``,
          expected: `\`${installation.id}\``,
          next: 'point DATABASE_URL to the database of this installation or to an empty one, or use the data folder that belongs to it',
        },
      ],
      { code: 'database-not-ours' },
    );
  }
  if (row.shard_count !== installation.shardCount) {
    throw new ConfigError(
      [
        {
          where,
          what: 'the database was set up with another number of shards',
          seen: String(row.shard_count),
          expected: String(installation.shardCount),
          next: 'start the release that fits, or run `lineclear topics reshard`',
        },
      ],
      { code: 'wrong-shard-count' },
    );
  }
}
