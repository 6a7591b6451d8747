import { AppError, ConfigError, TransientError } from '@lineclear/errors';
import type { DatabaseConfig } from './database-config.js';

const NETWORK = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
]);
/** Connection, resources, shutdown and start-up, serialization and deadlock, lock and statement time-outs. */
const PASSING_STATES = /^(08...|53...|57P0[1-5]|57014|40001|40P01|55P03|58030)$/;
/** The last one is what TypeORM says when a session was lost between two statements of a transaction. */
const PASSING_TEXTS =
  /Connection terminated|timeout expired|timeout exceeded when trying to connect|Client has encountered a connection error|not queryable|Client was closed|query runner was already released/;
const REFUSED_STATES = /^(28...|3D000)$/;

/**
 * Sorts an error of pg or TypeORM: trouble that passes becomes a TransientError, refused credentials or a missing database a ConfigError,
 * anything else (constraint, syntax, a RAISE of ours) is returned as it is.
 */
export function toDatabaseError(
  error: unknown,
  config?: Pick<DatabaseConfig, 'host' | 'port' | 'user' | 'database'>,
): unknown {
  if (error instanceof AppError || !(error instanceof Error)) return error;
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  const place = config === undefined ? 'the database' : `${config.host}:${config.port}/${config.database}`;
  if (REFUSED_STATES.test(code)) {
    return new ConfigError(
      [
        {
          where: place,
          what: `PostgreSQL refused user \`${config?.user ?? 'unknown'}\``,
          seen: `\`${error.message}\``,
          next: 'correct user, password or database',
        },
      ],
      {
        cause: error,
      },
    );
  }
  if (NETWORK.has(code) || PASSING_STATES.test(code) || PASSING_TEXTS.test(error.message)) {
    return new TransientError('database-unavailable', `${place} cannot be used now: ${error.message || code}`, {
      cause: error,
    });
  }
  return error;
}
