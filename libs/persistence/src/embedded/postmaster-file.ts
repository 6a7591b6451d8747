import { readFileSync } from 'node:fs';
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { ConfigError } from '@lineclear/errors';
import { run } from './run.js';

/** What a running server writes about itself into `postmaster.pid`. */
export interface Postmaster {
  readonly pid: number;
  readonly port: number;
  readonly status: string;
}

const LINGER_MS = 1_000;
const STOPPING_MS = 30_000;

export async function readPostmaster(clusterDir: string): Promise<Postmaster | undefined> {
  const text = await readFile(join(clusterDir, 'postmaster.pid'), 'utf8').catch(() => '');
  const lines = text.split('\n');
  const pid = Number(lines[0]);
  return Number.isInteger(pid) && pid > 0 ? { pid, port: Number(lines[3]), status: lines[7]?.trim() ?? '' } : undefined;
}

/** A dead process that nobody has waited for yet (init of a container may not) does not count as alive. */
export function isAlive(pid: number): boolean {
  if (!exists(pid)) return false;
  try {
    return process.platform !== 'linux' || !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
}

function exists(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/**
 * Waits until no server uses the cluster: one that ends because its owner was killed gets the time to end. The file of a dead server is
 * left to PostgreSQL, which replaces it; only when its process id still exists, as a zombie or as
 * another program, is it deleted here.
 * @throws ConfigError `folder-in-use` naming the process and its port
 */
export async function awaitUnused(clusterDir: string): Promise<void> {
  const startedAt = performance.now();
  for (;;) {
    const found = await readPostmaster(clusterDir);
    if (found === undefined || !exists(found.pid)) return;
    if (!isAlive(found.pid) || !(await isPostgres(found.pid))) {
      await rm(join(clusterDir, 'postmaster.pid'), { force: true });
      return;
    }
    const waitedMs = performance.now() - startedAt;
    if (waitedMs > (found.status === 'stopping' ? STOPPING_MS : LINGER_MS)) throw inUse(clusterDir, found);
    await delay(50);
  }
}

export function inUse(clusterDir: string, found: Postmaster | undefined): ConfigError {
  const seen = found === undefined ? 'another PostgreSQL' : `PostgreSQL process ${found.pid} on port ${found.port}`;
  return new ConfigError(
    [
      {
        where: clusterDir,
        what: 'the data folder is in use',
        seen,
        next: 'stop the other instance, or name another data folder',
      },
    ],
    { code: 'folder-in-use' },
  );
}

async function isPostgres(pid: number): Promise<boolean> {
  const commandLine =
    process.platform === 'linux'
      ? await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')
      : (await run('ps', ['-p', String(pid), '-o', 'command='], { cwd: '/', user: undefined })).output;
  return commandLine.includes('postgres');
}
