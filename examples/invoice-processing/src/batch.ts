import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** One sending of the whole inbox. It has its own tenant and so its own ERP ledger: a second start works like the first. */
export interface Batch {
  readonly id: string;
  readonly tenant: string;
  readonly done: boolean;
}

const FILE = 'batch.json';

export function newBatch(id: string): Batch {
  return { id, tenant: `demo-${id}`, done: false };
}

/** The batch to work on: the one asked for, else the last one if it was not finished, else a new one named after the time. */
export async function chooseBatch(home: string, asked: string | undefined, now: Date): Promise<Batch> {
  const last = await lastBatch(home);
  if (asked !== undefined) return last?.id === asked ? last : newBatch(asked);
  return last !== undefined && !last.done ? last : newBatch(`b${now.getTime().toString(36)}`);
}

async function lastBatch(home: string): Promise<Batch | undefined> {
  const text = await readFile(join(home, FILE), 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
  return text === undefined ? undefined : (JSON.parse(text) as Batch);
}

/** Replaces the note of the current batch; a crash leaves the old or the new one. */
export async function rememberBatch(home: string, batch: Batch): Promise<void> {
  await mkdir(home, { recursive: true });
  const path = join(home, FILE);
  await writeFile(`${path}.new`, `${JSON.stringify(batch)}\n`);
  await rename(`${path}.new`, path);
}
