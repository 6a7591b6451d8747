// npm run histories -- RELEASE: records every run of the invoice batch as e2e/histories/RELEASE/<file>.jsonl, the corpus that later releases replay.
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { LineclearClient } from '@lineclear/client';
import { DevelopmentIssuer } from '@lineclear/identity';
import { ROOT } from '../src/root.js';
import { startBatch } from '../src/start-process.js';

const release = process.argv[2];
if (release === undefined) throw new Error('name the release, such as 0.1.0');
const folder = join(ROOT, 'e2e/histories', release);
const home = await mkdtemp(join(tmpdir(), 'lineclear-histories-'));
const { child, ended } = startBatch(['--json', '--approver', 'demo', '--batch', 'history'], { LINECLEAR_HOME: home });
try {
  await new Promise<void>((resolve, reject) => {
    child.stdout?.on('data', (chunk: Buffer) => chunk.includes('"kind":"summary"') && resolve());
    ended.then(({ stderr }) => reject(new Error(stderr)), reject);
  });
  const { url } = JSON.parse(await readFile(join(home, 'instance.json'), 'utf8')) as { url: string };
  const issuer = await DevelopmentIssuer.open(home, { create: false });
  const token = await issuer?.issue({ tenant: 'demo-history', subject: 'recorder', roles: ['operator'], scopes: [] });
  const client = new LineclearClient({ url, token: token ?? '' });
  await mkdir(folder, { recursive: true });
  for (const { runId, taskId } of (await client.listRuns({ limit: 200 })).items) {
    const name = taskId
      .slice('history/'.length)
      .replaceAll('/', '-')
      .replace(/\.json$/, '.jsonl');
    await writeFile(join(folder, name), await client.history(runId));
  }
} finally {
  child.kill('SIGINT');
  await ended;
  await rm(home, { recursive: true, force: true });
}
