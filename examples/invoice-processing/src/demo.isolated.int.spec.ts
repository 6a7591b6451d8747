import { copyFile, mkdir, mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { runCli } from '@lineclear/cli';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { runDemo } from './demo.js';
import type { StartOptions } from './options.js';

const EXAMPLE = fileURLToPath(new URL('../', import.meta.url));
const SHARED = ['agents', 'models', 'policies', 'erp', 'check', 'tools.yaml', 'producers.yaml', 'demo-approver.yaml'];
const OPTIONS: StartOptions = {
  once: false,
  json: false,
  approver: 'none',
  batch: 'b1',
  fresh: false,
  model: undefined,
};
const CLEAN = '15-exactly-5000.00.json';

describe('a start of the invoice example', () => {
  let folder: string;
  let home: string;
  let ending: AbortController;
  let ended: Promise<number>;
  const printed = { stdout: '', stderr: '' };

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'lineclear-example-'));
    home = join(folder, 'home');
    ending = new AbortController();
    await mkdir(join(folder, 'inbox'));
    await Promise.all(SHARED.map((name) => symlink(join(EXAMPLE, name), join(folder, name))));
    for (const name of ['stdout', 'stderr'] as const) {
      printed[name] = '';
      vi.spyOn(process[name], 'write').mockImplementation((chunk) => {
        printed[name] += String(chunk);
        return true;
      });
    }
  });

  afterEach(async () => {
    ending.abort();
    await ended;
    vi.restoreAllMocks();
    await rm(folder, { recursive: true, force: true });
  });

  const drop = (name: string) => copyFile(join(EXAMPLE, 'inbox', name), join(folder, 'inbox', name));

  function start(options: Partial<StartOptions> = {}): void {
    const environment = { LINECLEAR_HOME: home, LINECLEAR_PORT: '0', LOG_LEVEL: 'silent', NO_COLOR: '1' };
    ended = runDemo({ exampleDir: folder, options: { ...OPTIONS, ...options }, environment, signal: ending.signal });
  }

  const until = (text: string) =>
    vi.waitFor(() => expect(printed.stdout).toContain(text), { timeout: 60_000, interval: 20 });

  async function lineclear(...args: string[]) {
    let stdout = '';
    const into = new Writable({
      write(chunk: Buffer, _, done) {
        stdout += chunk.toString('utf8');
        done();
      },
    });
    const surroundings = { environment: { LINECLEAR_HOME: home }, stdout: into, stderr: into, signal: ending.signal };
    return { code: await runCli(args, surroundings), stdout };
  }

  it('serves runs whose calls `runs show` lists after their end', async () => {
    await drop(CLEAN);
    start();
    await until('drop further files');
    const { runId } = JSON.parse((await lineclear('runs', 'list', '--json')).stdout) as { runId: string };
    const shown = await lineclear('runs', 'show', runId);
    expect(shown).toMatchObject({ code: 0, stdout: expect.stringContaining('answered') });
    expect(shown.stdout).toMatch(/erp\.invoice_post +\{.*"INV-1015".*\} +authorized +\[".+"\] +succeeded/);
    const { calls } = JSON.parse((await lineclear('runs', 'show', runId, '--json')).stdout) as { calls: object[] };
    expect(calls.at(-1)).toMatchObject({
      tool: 'erp.invoice_post',
      arguments: { number: 'INV-1015' },
      verdict: 'authorized',
      status: 'succeeded',
    });
  });
});
