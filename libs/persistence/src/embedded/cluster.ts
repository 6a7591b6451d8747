import { randomBytes } from 'node:crypto';
import { chmod, chown, mkdir, mkdtemp, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { ConfigError } from '@lineclear/errors';
import type { Binaries } from './binaries.js';
import { run } from './run.js';
import type { ServerUser } from './server-user.js';
import { usableFolder } from './usable-folder.js';

export const SUPERUSER = 'lineclear';
const PASSWORD_FILE = 'lineclear.password';
const MAJOR = '18';

/**
 * How the server is told where its cluster is. Programs started in the cluster keep their current directory through
 * the change of user, so this name works also below a folder that the server's user may not enter (a 0700 home of root), where the full
 * path would not. Measured with PostgreSQL 18: initdb and the server never need the path itself.
 */
export function clusterPath(clusterDir: string, user: ServerUser): string {
  return user !== undefined && process.platform === 'linux' ? '/proc/self/cwd' : clusterDir;
}

/**
 * Makes sure that `<dataDir>/data` is a cluster and returns the superuser's password, kept in a 0600 file inside it. A new cluster is
 * built beside and renamed, so that a crash leaves none or a whole one, and the first of two starters wins.
 * @throws ConfigError for a folder that cannot be used, a cluster of another PostgreSQL, or a failed initdb
 */
export async function prepareCluster(
  dataDir: string,
  binaries: Binaries,
  user: ServerUser,
): Promise<{ clusterDir: string; password: string }> {
  const clusterDir = join(dataDir, 'data');
  await usableFolder(dataDir, () => mkdir(dataDir, { recursive: true, mode: 0o700 }));
  if (user !== undefined) await usableFolder(dataDir, () => chown(dataDir, user.uid, user.gid));
  let found = await readFile(join(clusterDir, 'PG_VERSION'), 'utf8').catch(() => undefined);
  if (found === undefined) {
    await removeAbandoned(dataDir);
    await createCluster(dataDir, clusterDir, binaries, user);
    found = await readFile(join(clusterDir, 'PG_VERSION'), 'utf8');
  }
  if (found.trim() !== MAJOR) {
    throw new ConfigError(
      [
        {
          where: clusterDir,
          what: 'the cluster is of another PostgreSQL',
          seen: `\`${found.trim()}\``,
          expected: MAJOR,
          next: 'dump it with that version, or name another data folder',
        },
      ],
      { code: 'unsupported-version' },
    );
  }
  const password = await usableFolder(clusterDir, () => readFile(join(clusterDir, PASSWORD_FILE), 'utf8'));
  return { clusterDir, password: password.trim() };
}

async function createCluster(dataDir: string, clusterDir: string, binaries: Binaries, user: ServerUser): Promise<void> {
  const fresh = await usableFolder(dataDir, () => mkdtemp(join(dataDir, 'data.new-')));
  const passwordFile = `${fresh}.password`;
  try {
    await writeFile(passwordFile, `${randomBytes(24).toString('base64url')}\n`, { mode: 0o600 });
    if (user !== undefined) for (const path of [fresh, passwordFile]) await chown(path, user.uid, user.gid);
    await chmod(fresh, 0o700);
    const place = ['-D', clusterPath(fresh, user), `--pwfile=../${basename(passwordFile)}`];
    const traits = [
      '--auth=scram-sha-256',
      '--encoding=UTF8',
      '--locale=C',
      '--locale-provider=builtin',
      '--builtin-locale=C.UTF-8',
    ];
    const { code, output } = await run(binaries.initdb, [`--username=${SUPERUSER}`, ...place, ...traits], {
      cwd: fresh,
      user,
    });
    if (code !== 0) {
      throw new ConfigError(
        [
          {
            where: dataDir,
            what: 'PostgreSQL could not create its cluster',
            seen: `\`${output.trim().slice(-500)}\``,
            next: 'correct the cause and start again',
          },
        ],
        { code: 'database-not-started' },
      );
    }
    await rename(passwordFile, join(fresh, PASSWORD_FILE));
    await rename(fresh, clusterDir).catch(async (error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOTEMPTY' && error.code !== 'EEXIST') throw error;
    });
  } finally {
    await rm(fresh, { recursive: true, force: true });
    await rm(passwordFile, { force: true });
  }
}

/** Half-built clusters of starts that were killed. One that is young may belong to a starter at work. */
async function removeAbandoned(dataDir: string): Promise<void> {
  for (const name of await readdir(dataDir)) {
    const path = join(dataDir, name);
    if (name.startsWith('data.new-') && Date.now() - (await stat(path)).mtimeMs > 600_000)
      await rm(path, { recursive: true, force: true });
  }
}
