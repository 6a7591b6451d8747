import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { readInbox } from './inbox.js';

it('reads the files that are not known, in the order of their names, also those of the intern', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'lineclear-inbox-'));
  await mkdir(join(folder, 'intern'));
  for (const name of ['2.json', '1.json', 'intern/3.json', 'notes.txt']) await writeFile(join(folder, name), '{}');
  const read = async (...known: string[]) =>
    (await readInbox(folder, (name) => known.includes(name))).map(({ name, sender }) => `${name} ${sender}`);
  expect(await read()).toEqual(['1.json inbox', '2.json inbox', 'intern/3.json intern']);
  expect(await read('1.json', 'intern/3.json')).toEqual(['2.json inbox']);
  await rm(folder, { recursive: true });
});
