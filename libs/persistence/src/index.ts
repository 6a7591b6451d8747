export { type ClientOptions, connectClient } from './client.js';
export { createDataSource, type DataSourceSettings, type Migration, migrate } from './data-source.js';
export { connectionOptions, type DatabaseConfig, parseDatabaseUrl, type Tls } from './database-config.js';
export { toDatabaseError } from './database-error.js';
export {
  type EmbeddedPostgres,
  type EmbeddedPostgresOptions,
  type ServerOptions,
  startEmbeddedPostgres,
  startTemporaryPostgres,
} from './embedded/embedded-postgres.js';
export { Guard, type GuardOptions } from './embedded/guard.js';
export { claimDatabase, type Installation, readInstallationId } from './installation.js';
export { holdInstanceLock, type InstanceLock } from './instance-lock.js';
export { provisionServiceDatabase, type ServiceDatabase } from './provision.js';
