import { mkdtemp, open, readFile, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { ConfigError } from '@lineclear/errors';
import pg from 'pg';
import { findBinaries } from './binaries.js';
import { clusterPath, prepareCluster, SUPERUSER } from './cluster.js';
import { Guard } from './guard.js';
import { awaitUnused, inUse, isAlive, readPostmaster } from './postmaster-file.js';
import { type ServerUser, serverUser } from './server-user.js';
import { usableFolder } from './usable-folder.js';

export interface ServerOptions {
  /** Server settings, such as `{ max_connections: '200' }`. */
  readonly settings?: Readonly<Record<string, string>>;
  /** Default true. False is for tests: data survives the death of processes, but not of the machine. */
  readonly fsync?: boolean;
  /** Default 60 s; a start after a crash replays the log first. */
  readonly startTimeoutMs?: number;
  readonly log?: (line: string) => void;
}

export interface EmbeddedPostgresOptions extends ServerOptions {
  /** Folder that holds nothing but this server's files; made when missing. */
  readonly dataDir: string;
}

export interface EmbeddedPostgres {
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly password: string;
  /** An empty database at first, owned by `user`, who is superuser. */
  readonly database: string;
  readonly url: string;
  readonly pid: number;
  /** Resolves when the server is gone, asked or not; starting it again is the caller's part. */
  readonly exited: Promise<{ readonly expected: boolean }>;
  /** Ends all sessions and resolves when the server is gone. May be called again. */
  stop(): Promise<void>;
}

const HOST = '127.0.0.1';
const DATABASE = 'lineclear';
const ATTEMPTS = 20;
const SETTINGS = {
  listen_addresses: HOST,
  unix_socket_directories: '',
  cluster_name: 'lineclear',
  log_min_messages: 'log',
  log_checkpoints: 'off',
  // pages are written in the background, before a statement needs their place
  bgwriter_delay: '50ms',
  bgwriter_lru_maxpages: '1000',
  bgwriter_lru_multiplier: '4',
};
const NO_SYNC = { fsync: 'off', full_page_writes: 'off' };

/**
 * Starts a PostgreSQL 18 of its own from npm: loopback only, a free port, generated password. It cannot outlive this process, also not
 * `kill -9`, and it does not keep the process alive. Runs as the current user; for root see serverUser and clusterPath.
 * @throws ConfigError `folder-in-use`, `folder-unusable`, `unsupported-version` or `database-not-started`
 */
export function startEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  return start(options, resolve(options.dataDir), false);
}

/** Like startEmbeddedPostgres, in a new temporary folder that is removed at the end, also when this process is killed. For tests and benchmarks. */
export async function startTemporaryPostgres(options: ServerOptions = {}): Promise<EmbeddedPostgres> {
  return start(options, await mkdtemp(join(tmpdir(), 'lineclear-postgres-')), true);
}

async function start(options: ServerOptions, dataDir: string, isTemporary: boolean): Promise<EmbeddedPostgres> {
  const user = await serverUser(join(dataDir, 'data'));
  const binaries = await findBinaries(user, options.log ?? (() => undefined));
  const { clusterDir, password } = await prepareCluster(dataDir, binaries, user);
  await awaitUnused(clusterDir);
  const server = await startServer({ ...options, dataDir, clusterDir, program: binaries.postgres, user, isTemporary });
  let isStopping = false;
  const exited = server.guard.stopped(server.pid).then(async () => {
    if (isTemporary) await rm(dataDir, { recursive: true, force: true });
    return { expected: isStopping };
  });
  const stop = async () => {
    isStopping = true;
    server.guard.release();
    await exited;
  };
  try {
    await createDatabase(server.port, password);
  } catch (error) {
    await stop();
    throw error;
  }
  const url = `postgres://${SUPERUSER}:${password}@${HOST}:${server.port}/${DATABASE}`;
  return {
    host: HOST,
    port: server.port,
    user: SUPERUSER,
    password,
    database: DATABASE,
    url,
    pid: server.pid,
    exited,
    stop,
  };
}

interface ServerPlan extends ServerOptions {
  readonly dataDir: string;
  readonly clusterDir: string;
  readonly program: string;
  readonly user: ServerUser;
  readonly isTemporary: boolean;
}

async function startServer(plan: ServerPlan): Promise<{ guard: Guard; pid: number; port: number }> {
  const logFile = join(plan.dataDir, 'postgres.log');
  for (let attempt = 1; ; attempt += 1) {
    const port = await freePort();
    const guard = await launch(plan, port, logFile);
    const pid = await awaitReady(guard, plan, port);
    if (pid !== undefined) return { guard, pid, port };
    const isHung = !guard.isOver;
    guard.release();
    await guard.exited;
    const output = (await readFile(logFile, 'utf8').catch(() => '')).trim().slice(-1_000);
    if (/lock file "postmaster.pid" already exists/.test(output))
      throw inUse(plan.clusterDir, await readPostmaster(plan.clusterDir));
    const passes = /Address already in use|pre-existing shared memory block/.test(output);
    if (isHung || !passes || attempt === ATTEMPTS)
      throw notStarted(logFile, isHung ? 'not ready in time' : `\`${output}\``);
    await delay(100);
  }
}

async function launch(plan: ServerPlan, port: number, logFile: string): Promise<Guard> {
  const settings = { ...SETTINGS, ...(plan.fsync === false ? NO_SYNC : {}), ...plan.settings, port: String(port) };
  const log = await usableFolder(plan.dataDir, () => open(logFile, 'w', 0o600));
  try {
    if (plan.user !== undefined) await log.chown(plan.user.uid, plan.user.gid);
    return new Guard({
      program: plan.program,
      args: [
        '-D',
        clusterPath(plan.clusterDir, plan.user),
        ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]),
      ],
      cwd: plan.clusterDir,
      user: plan.user,
      logFd: log.fd,
      stopSignal: plan.isTemporary ? 'QUIT' : 'INT',
      removeAtEnd: plan.isTemporary ? plan.dataDir : undefined,
    });
  } finally {
    await log.close();
  }
}

async function awaitReady(guard: Guard, plan: ServerPlan, port: number): Promise<number | undefined> {
  const deadline = performance.now() + (plan.startTimeoutMs ?? 60_000);
  while (!guard.isOver && performance.now() < deadline) {
    const found = await readPostmaster(plan.clusterDir);
    if (found?.port === port && found.status === 'ready' && isAlive(found.pid)) return found.pid;
    await delay(10);
  }
  return undefined;
}

function notStarted(logFile: string, seen: string): ConfigError {
  return new ConfigError(
    [
      {
        where: logFile,
        what: 'PostgreSQL did not start',
        seen,
        next: 'correct the cause that the log names, or set DATABASE_URL to a PostgreSQL of yours',
      },
    ],
    {
      code: 'database-not-started',
    },
  );
}

function freePort(): Promise<number> {
  return new Promise((resolvePort, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, HOST, () => {
      const address = server.address();
      server.close(() => resolvePort(typeof address === 'object' && address !== null ? address.port : 0));
    });
  });
}

async function createDatabase(port: number, password: string): Promise<void> {
  const client = new pg.Client({ host: HOST, port, user: SUPERUSER, password, database: 'postgres' });
  client.on('error', () => undefined);
  await client.connect();
  try {
    const { rowCount } = await client.query('SELECT 1 FROM pg_database WHERE datname = $1', [DATABASE]);
    if (rowCount === 0) await client.query(`CREATE DATABASE ${DATABASE}`);
  } finally {
    await client.end();
  }
}
