import { execFile } from 'node:child_process';
import { chmod, mkdir, mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { connectClient } from '../client.js';
import { parseDatabaseUrl } from '../database-config.js';
import { type EmbeddedPostgres, startEmbeddedPostgres, startTemporaryPostgres } from './embedded-postgres.js';
import { isAlive } from './postmaster-file.js';

let seed: string;
let home: string;
const started: EmbeddedPostgres[] = [];

/** A whole cluster, so that tests which are not about making one can copy it. */
beforeAll(async () => {
  seed = await mkdtemp(join(tmpdir(), 'lineclear-test-seed-'));
  await (await startEmbeddedPostgres({ dataDir: join(seed, 'postgres'), fsync: false })).stop();
});

afterAll(() => rm(seed, { recursive: true, force: true }));

beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'lineclear-test-'));
});

afterEach(async () => {
  await Promise.all(started.splice(0).map((server) => server.stop()));
  await rm(home, { recursive: true, force: true });
});

async function start(dataDir = join(home, 'postgres')): Promise<EmbeddedPostgres> {
  const server = await startEmbeddedPostgres({ dataDir, fsync: false });
  started.push(server);
  return server;
}

async function copySeed(): Promise<void> {
  await promisify(execFile)('cp', ['-a', join(seed, 'postgres'), home]);
}

async function query(server: EmbeddedPostgres, text: string): Promise<unknown[]> {
  const client = await connectClient(parseDatabaseUrl(server.url), { name: 'test', onError: () => undefined });
  try {
    return (await client.query(text)).rows;
  } finally {
    await client.end();
  }
}

describe('startEmbeddedPostgres', () => {
  it('keeps its data over a stop and a start', async () => {
    await copySeed();
    const first = await start();
    await query(first, 'CREATE TABLE kept AS SELECT 1 AS n');
    await first.stop();
    expect(await first.exited).toEqual({ expected: true });
    expect(isAlive(first.pid)).toBe(false);
    expect(await query(await start(), 'SELECT n FROM kept')).toEqual([{ n: 1 }]);
  });

  it('says when the server died, and starts on the same data at once', async () => {
    await copySeed();
    const first = await start();
    await query(first, 'CREATE TABLE kept AS SELECT 1 AS n');
    process.kill(first.pid, 'SIGKILL');
    expect(await first.exited).toEqual({ expected: false });
    expect(await query(await start(), 'SELECT n FROM kept')).toEqual([{ n: 1 }]);
  });

  it('ends the server when its guard is killed', async () => {
    await copySeed();
    const server = await start();
    const { stdout } = await promisify(execFile)('ps', ['-o', 'ppid=', '-p', String(server.pid)]);
    process.kill(Number(stdout), 'SIGKILL');
    expect(await server.exited).toEqual({ expected: false });
    expect(isAlive(server.pid)).toBe(false);
  });

  it('refuses a folder in use and names process and port', async () => {
    await copySeed();
    const first = await start();
    await expect(start()).rejects.toMatchObject({
      code: 'folder-in-use',
      message: expect.stringContaining(`PostgreSQL process ${first.pid} on port ${first.port}`),
    });
  });

  it('lets exactly one of two starters at once have a new folder', async () => {
    const results = await Promise.allSettled([start(), start()]);
    expect(results.map((result) => result.status).toSorted()).toEqual(['fulfilled', 'rejected']);
    expect(results.find((result) => result.status === 'rejected')).toMatchObject({ reason: { code: 'folder-in-use' } });
    expect((await readdir(join(home, 'postgres'))).toSorted()).toEqual(['data', 'postgres.log']);
  });

  it('replaces the lock file of a dead server, also when its process id now is of another program', async () => {
    await copySeed();
    const first = await start();
    await first.stop();
    await writeFile(
      join(home, 'postgres/data/postmaster.pid'),
      `${process.pid}\n/gone\n1\n5432\n\n127.0.0.1\n 1 1\nready\n`,
    );
    expect(await query(await start(), 'SELECT 1 AS n')).toEqual([{ n: 1 }]);
  });

  it('keeps the password in a file that only its owner reads', async () => {
    await copySeed();
    await start();
    expect((await stat(join(home, 'postgres/data/lineclear.password'))).mode & 0o777).toBe(0o600);
    expect((await stat(join(home, 'postgres'))).mode & 0o777).toBe(0o700);
  });

  it('refuses a wrong password and offers no socket file', async () => {
    await copySeed();
    const server = await start();
    const config = { ...parseDatabaseUrl(server.url), password: 'guess' };
    await expect(connectClient(config, { name: 'test', onError: () => undefined })).rejects.toMatchObject({
      code: 'bad-config',
    });
    expect(await query(server, 'SHOW unix_socket_directories')).toEqual([{ unix_socket_directories: '' }]);
    expect(await query(server, 'SHOW listen_addresses')).toEqual([{ listen_addresses: '127.0.0.1' }]);
  });

  it('works below a folder that only its owner may enter', async () => {
    const closed = join(home, 'closed');
    await mkdir(closed);
    await chmod(closed, 0o700);
    expect(await query(await start(join(closed, 'deep/postgres')), "SELECT lower('Ä') AS l")).toEqual([{ l: 'ä' }]);
  });

  it('names the folder when it cannot be made', async () => {
    await writeFile(join(home, 'file'), '');
    await expect(start(join(home, 'file/postgres'))).rejects.toMatchObject({
      code: 'folder-unusable',
      message: expect.stringContaining(join(home, 'file/postgres')),
    });
  });

  it('refuses the cluster of another version', async () => {
    await mkdir(join(home, 'postgres/data'), { recursive: true });
    await writeFile(join(home, 'postgres/data/PG_VERSION'), '15\n');
    await expect(start()).rejects.toMatchObject({
      code: 'unsupported-version',
      message: expect.stringContaining('seen `15`; expected 18'),
    });
  });

  it('shows what the server says when it does not start', async () => {
    await copySeed();
    const work = startEmbeddedPostgres({ dataDir: join(home, 'postgres'), settings: { max_connections: 'many' } });
    await expect(work).rejects.toMatchObject({
      code: 'database-not-started',
      message: expect.stringContaining('max_connections'),
    });
  });
});

describe('startTemporaryPostgres', () => {
  it('leaves no files', async () => {
    vi.stubEnv('TMPDIR', home);
    const server = await startTemporaryPostgres({ fsync: false });
    vi.unstubAllEnvs();
    expect(await readdir(home)).toHaveLength(1);
    await server.stop();
    expect(await readdir(home)).toEqual([]);
  });
});
