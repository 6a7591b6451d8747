import { rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** What a running platform says of itself in `<home>/instance.json`. CAUTION: public names, see docs. */
export interface InstanceFile {
  readonly url: string;
  readonly services: Readonly<Record<string, readonly { readonly pid: number; readonly url: string }[]>>;
  readonly batch: string | null;
  readonly kafka: readonly string[] | null;
}

const fileIn = (homeDir: string): string => join(homeDir, 'instance.json');

/** Readers never see half of it. */
export async function writeInstanceFile(homeDir: string, instance: InstanceFile): Promise<void> {
  const file = fileIn(homeDir);
  await writeFile(`${file}.new`, `${JSON.stringify(instance, null, 2)}\n`);
  await rename(`${file}.new`, file);
}

export async function removeInstanceFile(homeDir: string): Promise<void> {
  await rm(fileIn(homeDir), { force: true });
}
