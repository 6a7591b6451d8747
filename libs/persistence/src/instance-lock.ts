import { hostname } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { ConfigError } from '@lineclear/errors';
import type pg from 'pg';
import { connectClient } from './client.js';
import type { DatabaseConfig } from './database-config.js';
import { lockKey } from './lock-key.js';
import { toDatabaseError } from './database-error.js';

export interface InstanceLock {
  /** Resolves when the lock is gone, asked or not. Unasked, another process may start at any moment: stop working. */
  readonly lost: Promise<{ readonly expected: boolean }>;
  release(): Promise<void>;
}

/**
 * Makes this process the only one that runs the embedded mode on the database, for as long as its session lives.
 * @param options.waitMs how long a session of a process that was just killed may linger; default 3 s
 * @throws ConfigError `folder-in-use` naming the holder
 */
export async function holdInstanceLock(
  config: DatabaseConfig,
  options: { readonly waitMs?: number } = {},
): Promise<InstanceLock> {
  let over: (value: { expected: boolean }) => void = () => undefined;
  const lost = new Promise<{ expected: boolean }>((resolve) => {
    over = resolve;
  });
  const name = `lineclear instance, process ${process.pid} on ${hostname()}`.slice(0, 63);
  const client = await connectClient(config, { name, onError: () => over({ expected: false }) });
  try {
    const deadline = performance.now() + (options.waitMs ?? 3_000);
    while (!(await tryLock(client))) {
      if (performance.now() > deadline) throw await heldElsewhere(client, config);
      await delay(50);
    }
  } catch (error) {
    await client.end().catch(() => undefined);
    throw toDatabaseError(error, config);
  }
  client.once('end', () => over({ expected: false }));
  const release = async () => {
    over({ expected: true });
    await client.end().catch(() => undefined);
  };
  return { lost, release };
}

async function tryLock(client: pg.Client): Promise<boolean> {
  const { rows } = await client.query<{ held: boolean }>('SELECT pg_try_advisory_lock($1, $2) AS held', [
    ...lockKey('instance'),
  ]);
  return rows[0]?.held === true;
}

async function heldElsewhere(client: pg.Client, config: DatabaseConfig): Promise<ConfigError> {
  const [high, low] = lockKey('instance').map((part) => part >>> 0);
  const { rows } = await client.query<{ application_name: string }>(
    `SELECT a.application_name FROM pg_locks l JOIN pg_stat_activity a USING (pid)
     WHERE l.locktype = 'advisory' AND l.granted AND l.classid = $1::bigint::oid AND l.objid = $2::bigint::oid`,
    [high, low],
  );
  return new ConfigError(
    [
      {
        where: `${config.host}:${config.port}/${config.database}`,
        what: 'another process runs on this database',
        seen: `\`${rows[0]?.application_name ?? 'unknown'}\``,
        next: 'stop it, or give this one another database; several processes need Kafka',
      },
    ],
    { code: 'folder-in-use' },
  );
}
