import pg from 'pg';
import { connectionOptions, type DatabaseConfig } from './database-config.js';
import { toDatabaseError } from './database-error.js';

export interface ClientOptions {
  /** Shown as application_name in pg_stat_activity. */
  readonly name: string;
  /** Told once when the connection is lost, also between statements. The client is useless then: connect a new one. */
  readonly onError: (error: unknown) => void;
  /** `generic` plans each named statement once; for clients that send few statement shapes very often. */
  readonly plan?: 'auto' | 'generic';
}

/**
 * Opens one connection outside any pool. INVARIANT: it has an error listener from the first moment; without one, a session that the server
 * ends while idle takes the whole process down.
 * @throws TransientError when the server cannot be reached, ConfigError when it refuses us
 */
export async function connectClient(config: DatabaseConfig, options: ClientOptions): Promise<pg.Client> {
  const settings: Readonly<Record<string, string>> =
    options.plan === 'generic' ? { plan_cache_mode: 'force_generic_plan' } : {};
  const client = new pg.Client({ ...connectionOptions(config, settings), application_name: options.name });
  let isLost = false;
  let isConnected = false;
  client.on('error', (error) => {
    if (isLost || !isConnected) return;
    isLost = true;
    options.onError(toDatabaseError(error, config));
  });
  try {
    await client.connect();
    isConnected = true;
    return client;
  } catch (error) {
    throw toDatabaseError(error, config);
  }
}
