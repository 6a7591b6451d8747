import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startHosted } from '@lineclear/host/testing';
import { eventually, testDatabase } from '@lineclear/test-kit';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { policyEngine } from '../policy-engine.js';

const file = (rules: string) => `policy: p\nversion: 1\nrules:\n${rules}\n`;

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'policy-set-'));
  await mkdir(join(folder, 'policies'));
});
afterAll(() => rm(folder, { recursive: true }));

it('counts versions by what the files mean; files that cannot be used leave the set in force as it is (B25)', async () => {
  const database = await (await testDatabase()).createDatabase();
  const environment = { LINECLEAR_PROJECT: folder, LINECLEAR_HOME: folder };
  const save = (text: string) => writeFile(join(folder, 'policies', 'p.yaml'), text);
  /** Starts the service on a file, and gives the set in force once it is this one, with the number of activations so far. */
  const start = async (text: string) => {
    await save(text);
    const hosted = await startHosted(policyEngine, { database, environment });
    try {
      const { hash } = policyEngine.config(environment);
      return await eventually(async () => {
        const [set] = await hosted.dataSource.query<{ version: number; hash: string }[]>(
          'SELECT version, hash FROM policy_set',
        );
        const events = await hosted.world.events('policy-engine');
        const activations = events.filter(({ name }) => name === 'policy-set.activated').length;
        return set?.hash === hash && { version: set.version, activations };
      });
    } finally {
      await hosted.stop();
    }
  };
  expect(await start(file('  - {id: a, allow: x.y}'))).toEqual({ version: 1, activations: 1 });
  expect(await start(file('  - {allow: x.y, id: a} # the same'))).toEqual({ version: 1, activations: 1 });
  await save(file('  - {id: a, allow: x.y, wher: 1}'));
  expect(() => policyEngine.config(environment)).toThrow(/policies\/p\.yaml:4:\d+: key `wher` is not known/);
  await save(`${file('  - {id: a, deny: x.y}')}tests: [{call: x.y, expect: allow}]\n`);
  expect(() => policyEngine.config(environment)).toThrow(/the test of `x\.y` fails/);
  expect(await start(file('  - {id: a, deny: x.y}'))).toEqual({ version: 2, activations: 2 });
});
