import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ConfigError } from '@lineclear/errors';
import type { PolicyText } from '../../domain/policy-set.js';

const FOLDER = 'policies';

/**
 * The policy files of a project, by name; none when it has no such folder.
 * @throws ConfigError for a folder or file that cannot be read
 */
export function readPolicyFiles(project: string): readonly PolicyText[] {
  return names(join(project, FOLDER))
    .filter((name) => /\.ya?ml$/.test(name))
    .toSorted()
    .map((name) => ({ file: `${FOLDER}/${name}`, text: read(join(project, FOLDER, name)) }));
}

function names(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw unreadable(folder, cause);
  }
}

function read(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (cause) {
    throw unreadable(file, cause);
  }
}

function unreadable(where: string, cause: unknown): ConfigError {
  const code = (cause as NodeJS.ErrnoException).code ?? 'unknown';
  return new ConfigError([{ where, what: `it cannot be read (${code})`, next: 'correct its permissions' }], { cause });
}
