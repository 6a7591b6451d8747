import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, readdir, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { cacheFolder, infraKafka } from './infra-folder.js';

const execute = promisify(execFile);

/** The folder of the broker's jars; it may not exist yet. Its name is the hash of the pom, so a new version gets a new folder. */
export async function jarFolder(): Promise<string> {
  const pom = await readFile(infraKafka('pom.xml'));
  return join(cacheFolder('kafka'), createHash('sha256').update(pom).digest('hex').slice(0, 16));
}

export async function hasJars(): Promise<boolean> {
  const names = await readdir(await jarFolder()).catch(() => []);
  return names.length > 0;
}

/** Fetches the jars by Maven when they are missing (about 10 s, 55 MB) and returns their folder. Safe for several processes at once. */
export async function fetchJars(): Promise<string> {
  const folder = await jarFolder();
  if (await hasJars()) return folder;
  await mkdir(cacheFolder('kafka'), { recursive: true });
  const fresh = await mkdtemp(`${folder}.`);
  try {
    const goal = [
      '-q',
      '-B',
      '-f',
      infraKafka('pom.xml'),
      'dependency:copy-dependencies',
      `-DoutputDirectory=${fresh}`,
      '-DincludeScope=runtime',
    ];
    await execute('mvn', goal, { timeout: 300_000 });
    await rename(fresh, folder);
  } catch (error) {
    await rm(fresh, { recursive: true, force: true });
    if (!(await hasJars())) throw error;
  }
  return folder;
}
