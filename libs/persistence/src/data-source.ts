import pg from 'pg';
import { DataSource, type DataSourceOptions, type Logger, type MigrationInterface } from 'typeorm';
import { lockKey } from './lock-key.js';
import { connectionOptions, type DatabaseConfig } from './database-config.js';
import { toDatabaseError } from './database-error.js';

export type Migration = new () => MigrationInterface;

export interface DataSourceSettings {
  readonly entities?: NonNullable<DataSourceOptions['entities']>;
  /** Default 5, at least 2: the lock of `migrate` holds one. */
  readonly poolSize?: number;
  /** Default `lineclear`. */
  readonly name?: string;
}

/** TypeORM writes to standard output, which belongs to data; what fails is thrown anyway. */
const SILENT: Logger = {
  logQuery: () => undefined,
  logQueryError: () => undefined,
  logQuerySlow: () => undefined,
  logSchemaBuild: () => undefined,
  logMigration: () => undefined,
  log: () => undefined,
};

/** A pooled client that is checked out has no listener of the pool, and losing it would end the process. */
class ListenedClient extends pg.Client {
  constructor(config?: string | pg.ClientConfig) {
    super(config);
    this.on('error', () => undefined);
  }
}

/**
 * A connected TypeORM data source for reads, rare writes and migrations in the config's schema. It never changes tables by itself.
 * @param migrations classes in order; each name ends in 13 digits, such as `Approvals1764400000001`
 * @throws TransientError when the server cannot be reached, ConfigError when it refuses us
 */
export async function createDataSource(
  config: DatabaseConfig,
  migrations: readonly Migration[],
  settings: DataSourceSettings = {},
): Promise<DataSource> {
  const { host, port, user, password, database, ssl, ...extra } = connectionOptions(config);
  const dataSource = new DataSource({
    type: 'postgres',
    host,
    port,
    username: user,
    password,
    database,
    ssl,
    schema: config.schema,
    synchronize: false,
    migrationsRun: false,
    migrationsTransactionMode: 'each',
    migrationsTableName: 'migrations',
    migrations: [...migrations],
    entities: settings.entities ?? [],
    installExtensions: false,
    logger: SILENT,
    applicationName: settings.name ?? 'lineclear',
    extra: { ...extra, max: Math.max(2, settings.poolSize ?? 5), Client: ListenedClient },
  });
  try {
    return await dataSource.initialize();
  } catch (error) {
    throw toDatabaseError(error, config);
  }
}

/**
 * Applies the migrations that are missing, each in its own transaction, under a lock of the schema, so that several starters at once do it
 * once; waits up to a minute for the lock.
 * @returns names of those applied now
 */
export async function migrate(dataSource: DataSource): Promise<readonly string[]> {
  const { schema } = dataSource.options as { readonly schema?: string };
  const session = dataSource.createQueryRunner();
  const key = [...lockKey(`migrate ${schema ?? 'public'}`)];
  try {
    await session.query("SET lock_timeout = '60s'");
    await session.query('SELECT pg_advisory_lock($1, $2)', key);
    try {
      const applied = await dataSource.runMigrations();
      return applied.map((migration) => migration.name);
    } finally {
      await session.query('SELECT pg_advisory_unlock($1, $2)', key);
      await session.query('RESET lock_timeout');
    }
  } catch (error) {
    throw toDatabaseError(error);
  } finally {
    await session.release();
  }
}
