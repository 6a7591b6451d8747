import { copyFile, mkdir, mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
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
const ASKS = '16-exactly-5000.01.json';
const GOES_ON = 'batch b1 is not finished; it goes on at the next start with `npm start -- --batch b1`\n';

describe('a start of the invoice example', () => {
  let folder: string;
  let home: string;
  let ending: AbortController;
  let ended: Promise<number>;
  const printed = { stdout: '', stderr: '' };

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'lineclear-example-'));
    home = join(folder, 'home');
    await mkdir(join(folder, 'inbox'));
    await Promise.all(SHARED.map((name) => symlink(join(EXAMPLE, name), join(folder, name))));
    for (const name of ['stdout', 'stderr'] as const) {
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
    ending = new AbortController();
    Object.assign(printed, { stdout: '', stderr: '' });
    const environment = { LINECLEAR_HOME: home, LINECLEAR_PORT: '0', LOG_LEVEL: 'silent', NO_COLOR: '1' };
    ended = runDemo({ exampleDir: folder, options: { ...OPTIONS, ...options }, environment, signal: ending.signal });
  }

  const until = (part: string, name: keyof typeof printed = 'stdout') =>
    vi.waitFor(() => expect(printed[name]).toContain(part), { timeout: 60_000, interval: 20 });

  async function interrupt() {
    ending.abort();
    return { code: await ended, stderr: printed.stderr };
  }

  async function lineclear(...args: string[]) {
    const [stdout, stderr] = [new PassThrough(), new PassThrough()];
    const code = await runCli(args, { environment: { LINECLEAR_HOME: home }, stdout, stderr, signal: ending.signal });
    return { code, stdout: await text(stdout.end()), stderr: await text(stderr.end()) };
  }

  it('serves runs whose calls `runs show` lists after their end', async () => {
    await drop(CLEAN);
    start();
    await until('drop further files');
    const { runId } = JSON.parse((await lineclear('runs', 'list', '--json')).stdout) as { runId: string };
    const shown = await vi.waitFor(async () => {
      const answer = await lineclear('runs', 'show', runId);
      // the trace store follows with a delay, and the command says so
      expect(answer).toMatchObject({ code: 0, stdout: expect.stringContaining('answered'), stderr: '' });
      return answer;
    }, 10_000);
    expect(shown.stdout).toMatch(/erp\.invoice_post +authorized +\[".+"\] +succeeded +- +\{.*"INV-1015"/);
    const { calls } = JSON.parse((await lineclear('runs', 'show', runId, '--json')).stdout) as { calls: object[] };
    expect(calls.at(-1)).toMatchObject({
      tool: 'erp.invoice_post',
      arguments: { number: 'INV-1015' },
      verdict: 'authorized',
      status: 'succeeded',
    });
  });

  it('says on an interrupt how the batch goes on, and nothing when every run has ended', async () => {
    await drop(ASKS);
    start();
    await until(`${ASKS}: awaiting`);
    expect(await interrupt()).toEqual({ code: 0, stderr: GOES_ON });
    start({ approver: 'demo' });
    await until('1 of 1 as expected');
    await until('drop further files');
    expect(await interrupt()).toEqual({ code: 0, stderr: '' });
  });

  it('says so on stderr under --json, also before the first task is sent', async () => {
    await drop(CLEAN);
    start({ json: true });
    await until('the platform serves', 'stderr');
    const { code, stderr } = await interrupt();
    expect({ code, line: stderr.split('\n').slice(1).join('\n') }).toEqual({ code: 0, line: GOES_ON });
    expect(printed.stdout).toBe('');
  });

  it('takes up a file that is dropped in while approvals are pending', async () => {
    await drop(ASKS);
    start();
    await until(`${ASKS}: awaiting`);
    await drop(CLEAN);
    await until(`${CLEAN}: answered`);
    expect(printed.stdout).not.toContain('as expected');
    const { approvalId } = JSON.parse((await lineclear('approvals', 'list', '--json')).stdout) as {
      approvalId: string;
    };
    await lineclear('approvals', 'deny', approvalId, '--reason', 'not agreed');
    await until('of 2 as expected');
  });

  it('judges a file that nobody expects by its end, and compares the ERP no more', async () => {
    await copyFile(join(EXAMPLE, 'inbox', CLEAN), join(folder, 'inbox', 'added.json'));
    start({ approver: 'demo' });
    await until('1 of 1 as expected');
    expect(printed.stdout).toMatch(/the ERP holds what it should and nothing else +- +1 postings/);
  });
});
