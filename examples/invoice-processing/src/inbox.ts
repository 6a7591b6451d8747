import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

/** Who drops files into a folder of the inbox. The intern lacks the role that posting needs. */
export type Sender = 'inbox' | 'intern';

export interface InboxFile {
  /** relative to the inbox folder; with the batch it is the task's id */
  readonly name: string;
  readonly sender: Sender;
  /** the task's data as it is sent: JSON text, or the file's own bytes when they are no JSON (the platform refuses those, not we) */
  readonly data: string;
  /** tenant that the file claims, when it claims one */
  readonly tenant: string | undefined;
}

/** The files of the inbox folder that are not `known`, in the order of their names. */
export async function readInbox(folder: string, known: (name: string) => boolean): Promise<InboxFile[]> {
  const names = (await readdir(folder, { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile() && entry.name.endsWith('.json'))
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .filter((name) => !known(name));
  return Promise.all(names.sort().map(async (name) => toTask(name, await readFile(join(folder, name), 'utf8'))));
}

/** The task that a file becomes. An unreadable file is sent as it is: nothing is lost, and the refusal is the platform's. */
export function toTask(name: string, text: string): InboxFile {
  const sender: Sender = name.startsWith('intern/') ? 'intern' : 'inbox';
  const invoice = parseObject(text);
  if (invoice === undefined) return { name, sender, data: text, tenant: undefined };
  const { tenant, ...rest } = invoice;
  const data = JSON.stringify({
    agent: 'invoice-clerk',
    input: { invoice: rest },
    taskType: 'invoice',
    tags: ['demo'],
  });
  return { name, sender, data, tenant: typeof tenant === 'string' ? tenant : undefined };
}

function parseObject(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : undefined;
  } catch {
    return undefined;
  }
}
