import { join } from 'node:path';
import { type ServiceName, SHARD_COUNT } from '@lineclear/contracts';
import { TransientError } from '@lineclear/errors';
import { type Environment, PRODUCT_VERSION } from '@lineclear/host';
import {
  type DatabaseConfig,
  type Installation,
  parseDatabaseUrl,
  provisionServiceDatabase,
  readInstallationId,
  startEmbeddedPostgres,
} from '@lineclear/persistence';
import type { Logger } from '@lineclear/telemetry';

/** The PostgreSQL of a platform: its own, or one that was given. */
export interface PlatformDatabase {
  /** may make schemas and roles, and reads every service's outbox */
  readonly admin: DatabaseConfig;
  readonly installation: Installation;
  /** resolves with the reason when the server is gone unasked; never for one that was given */
  readonly failed: Promise<unknown>;
  /** schema and role of a service, made when missing */
  provision(service: ServiceName): Promise<DatabaseConfig>;
  stop(): Promise<void>;
}

/** Passwords of roles are random and long, so stretching them protects nothing and costs every connection some milliseconds. */
const SETTINGS = { max_connections: '200', jit: 'off', scram_iterations: '1' };
const NEVER = new Promise<never>(() => undefined);

/**
 * Uses DATABASE_URL, or starts an embedded PostgreSQL in `<home>/postgres`.
 * @throws ConfigError for a data folder in use or unusable, a server that does not start, an address that is none
 */
export async function openDatabase(environment: Environment, homeDir: string, log: Logger): Promise<PlatformDatabase> {
  const id = await readInstallationId(homeDir);
  const installation: Installation = { id, shardCount: SHARD_COUNT, productVersion: PRODUCT_VERSION };
  const url = environment['DATABASE_URL'] ?? '';
  if (url !== '') return databaseOf(parseDatabaseUrl(url), installation, NEVER, async () => undefined);
  const server = await startEmbeddedPostgres({
    dataDir: join(homeDir, 'postgres'),
    settings: SETTINGS,
    log: (line) => log.warn({ postgres: line }, 'PostgreSQL'),
  });
  const { host, port, user, password, database } = server;
  const admin: DatabaseConfig = { host, port, user, password, database, schema: 'public', tls: 'off' };
  const failed = server.exited.then(({ expected }) =>
    expected
      ? NEVER
      : new TransientError('database-unavailable', 'the embedded PostgreSQL ended; start the platform again'),
  );
  return databaseOf(admin, installation, failed, () => server.stop());
}

function databaseOf(
  admin: DatabaseConfig,
  installation: Installation,
  failed: Promise<unknown>,
  stop: () => Promise<void>,
): PlatformDatabase {
  const provision = (service: ServiceName): Promise<DatabaseConfig> =>
    provisionServiceDatabase(admin, { schema: service.replaceAll('-', '_') });
  return { admin, installation, failed, provision, stop };
}
