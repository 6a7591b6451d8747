import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ConfigError } from '@lineclear/errors';

export interface ProjectFile {
  /** relative to the project folder; it starts every message */
  readonly file: string;
  readonly text: string;
}

/**
 * The YAML files of a folder of the project, by name; none when the folder does not exist.
 * @throws ConfigError for a project folder, folder or file that cannot be read
 */
export function projectFiles(project: string, folder: string): ProjectFile[] {
  assertProject(project);
  const names = unlessMissing(folder, () => readdirSync(join(project, folder))) ?? [];
  return names
    .filter((name) => /\.ya?ml$/.test(name))
    .toSorted()
    .flatMap((name) => projectFile(project, `${folder}/${name}`) ?? []);
}

/** One file of the project, or undefined when it does not exist. */
export function projectFile(project: string, file: string): ProjectFile | undefined {
  const text = unlessMissing(file, () => readFileSync(join(project, file), 'utf8'));
  return text === undefined ? undefined : { file, text };
}

function assertProject(project: string): void {
  const names = unlessMissing(project, () => readdirSync(project));
  if (names !== undefined) return;
  throw new ConfigError([
    {
      where: 'LINECLEAR_PROJECT',
      what: 'the folder does not exist',
      seen: `\`${project}\``,
      next: 'name the project folder',
    },
  ]);
}

function unlessMissing<T>(where: string, read: () => T): T | undefined {
  try {
    return read();
  } catch (cause) {
    const code = (cause as NodeJS.ErrnoException).code ?? String(cause);
    if (code === 'ENOENT') return undefined;
    throw new ConfigError([{ where, what: `it cannot be read (${code})`, next: 'make it readable' }], { cause });
  }
}
