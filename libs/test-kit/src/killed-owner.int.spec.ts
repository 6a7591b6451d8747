import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startEmbeddedPostgres } from '@lineclear/persistence';
import { describe, expect, it } from 'vitest';
import { eventually } from './eventually.js';
import { startTypeScript } from './typescript-process.js';

const OWNER = new URL('./victims/postgres-owner.ts', import.meta.url);

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

async function inTemporaryFolder(work: (folder: string) => Promise<void>): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'lineclear-test-'));
  try {
    await work(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

describe('an embedded PostgreSQL whose owner is killed', () => {
  it('ends, and the next owner may start at once', async () => {
    await inTemporaryFolder(async (folder) => {
      const owner = startTypeScript(OWNER, [folder]);
      const pid = Number(await owner.nextLine());
      expect(isAlive(pid)).toBe(true);
      await owner.kill();
      const next = await startEmbeddedPostgres({ dataDir: folder });
      expect(isAlive(pid)).toBe(false);
      await next.stop();
    });
  });

  it('leaves no files when it was temporary', async () => {
    await inTemporaryFolder(async (folder) => {
      const owner = startTypeScript(OWNER, [], { TMPDIR: folder });
      const pid = Number(await owner.nextLine());
      await owner.kill();
      await eventually(() => !isAlive(pid));
      await eventually(async () =>
        expect(await readdir(folder, { recursive: true })).toHaveLength(process.getuid?.() === 0 ? 1 : 0),
      );
    });
  });
});
