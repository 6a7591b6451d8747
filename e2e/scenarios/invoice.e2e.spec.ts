import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startBatch } from '../src/start-process.js';

interface Line {
  readonly kind: string;
  readonly taskId?: string;
  readonly outcome?: string;
  readonly ok?: boolean;
  readonly effects?: number;
}

const linesOf = (stdout: string) =>
  stdout.split('\n').flatMap((line) => (line.startsWith('{') ? [JSON.parse(line) as Line] : []));
const wrongOf = (lines: readonly Line[]) => lines.filter(({ kind, ok }) => kind === 'run' && ok !== true);
const DEMO = ['--once', '--json', '--approver', 'demo'];

describe('the invoice batch', () => {
  let home: string;

  beforeEach(async () => {
    home = await mkdtemp(join(tmpdir(), 'lineclear-e2e-'));
  });

  afterEach(async () => {
    await rm(home, { recursive: true, force: true });
  });

  const start = (args: readonly string[]) => startBatch(args, { LINECLEAR_HOME: home });

  it('ends as expected, twice in one data folder, with an effect only where it was allowed', async () => {
    for (const batch of ['one', 'two']) {
      const { code, stdout, stderr } = await start([...DEMO, '--batch', batch]).ended;
      const lines = linesOf(stdout);
      expect({ wrong: wrongOf(lines), stderr }).toMatchObject({ wrong: [] });
      expect(lines.at(-1)).toMatchObject({
        kind: 'summary',
        batch,
        runs: 28,
        ok: 28,
        failed: 0,
        effects: 16,
        effectsWithoutDecision: 0,
      });
      expect(code).toBe(0);
      const ledger = (await readFile(join(home, 'erp', `demo-${batch}.jsonl`), 'utf8')).trim().split('\n');
      expect(ledger).toHaveLength(16);
    }
  });

  it('resumes after kill -9 and does nothing twice', async () => {
    const first = start([...DEMO, '--batch', 'killed']);
    await firstLedgerLine(join(home, 'erp', 'demo-killed.jsonl'), first.ended);
    first.child.kill('SIGKILL');
    expect((await first.ended).signal).toBe('SIGKILL');
    const { code, stdout, stderr } = await start([...DEMO, '--batch', 'killed']).ended;
    expect({ wrong: wrongOf(linesOf(stdout)), stderr, code }).toMatchObject({ wrong: [], code: 0 });
  });

  it('leaves approvals pending without an approver, calls those runs not ok, and takes them up at the next start', async () => {
    const { code, stdout } = await start(['--once', '--json', '--approver', 'none', '--batch', 'waiting']).ended;
    const waiting = linesOf(stdout).filter(({ outcome }) => outcome === 'awaiting');
    expect(waiting.length).toBeGreaterThanOrEqual(5);
    expect(waiting.every(({ ok }) => ok === false)).toBe(true);
    expect(code).toBe(1);
    const again = await start([...DEMO, '--batch', 'waiting']).ended;
    expect({ code: again.code, last: linesOf(again.stdout).at(-1) }).toMatchObject({ code: 0, last: { ok: 28 } });
  });

  it('ends clean on an interrupt and leaves no process and no instance file', async () => {
    const { child, ended } = start(['--json', '--approver', 'none', '--batch', 'interrupted']);
    await firstLedgerLine(join(home, 'erp', 'demo-interrupted.jsonl'), ended);
    child.kill('SIGINT');
    expect(await ended).toMatchObject({ code: 0, signal: null });
    await expect(readFile(join(home, 'instance.json'))).rejects.toMatchObject({ code: 'ENOENT' });
  });

  it.each([
    [['--approver', 'boss'], 'ask, demo or none'],
    [['--batch', '../x'], 'lower-case'],
    [['--approver', 'ask'], 'a terminal'],
    [['--model', 'scripted/invoce', '--once'], 'scripted/invoice'],
  ])('exits 2 for %j and says what is expected', async (args, part) => {
    const { code, stdout, stderr } = await start(args).ended;
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain(part);
  });

  it('refuses a data folder that another start uses, by name', async () => {
    const first = start(['--json', '--approver', 'none', '--batch', 'a']);
    await firstLedgerLine(join(home, 'erp', 'demo-a.jsonl'), first.ended);
    const { code, stderr } = await start([...DEMO, '--batch', 'b']).ended;
    expect(code).not.toBe(0);
    expect(stderr).toContain('in use');
    first.child.kill('SIGINT');
    await first.ended;
  });
});

/** Resolves when the ERP has booked something, so that the batch is in the middle. */
async function firstLedgerLine(file: string, ended: Promise<{ stderr: string }>): Promise<void> {
  const over = ended.then(({ stderr }) => {
    throw new Error(`the start ended before its first effect: ${stderr}`);
  });
  const written = async () => {
    for (;;) {
      const text = await readFile(file, 'utf8').catch(() => '');
      if (text.includes('\n')) return;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  };
  await Promise.race([written(), over]);
  over.catch(() => undefined);
}
