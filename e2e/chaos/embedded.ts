// npm run chaos:embedded [-- --kills 20 --seed N]: kills the whole process at random moments of the batch, resumes, and checks everything.
import { appendFile, mkdtemp, rm } from 'node:fs/promises';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { seededRandom } from '../src/random.js';
import { ROOT } from '../src/root.js';
import { startBatch } from '../src/start-process.js';
import { type ProcessId, processTree, stillRunning } from './process-tree.js';

const { values } = parseArgs({ options: { kills: { type: 'string', default: '20' }, seed: { type: 'string' } } });
const kills = Number(values.kills);
const seed = values.seed === undefined ? Date.now() % 1_000_000 : Number(values.seed);
const random = seededRandom(seed);

/** A batch takes about this long from when the platform serves; kills fall anywhere in it, and some before it. */
const BATCH_MS = 6_000;
const BOOT_MS = 3_000;
const BOOT_SHARE = 0.15;
const MOST_KILLS_A_BATCH = 4;
const ORPHAN_MS = 5_000;
const RESULTS = join(ROOT, 'e2e/results/chaos-embedded.jsonl');

const home = await mkdtemp(join(tmpdir(), 'lineclear-chaos-'));
const violations: string[] = [];
let done = 0;
let batches = 0;
let unknown = 0;

process.stdout.write(`seed ${seed}, ${kills} kills\n`);
try {
  while (done < kills)
    await round(`c${seed}-${(batches += 1)}`, Math.min(kills - done, 1 + Math.floor(random() * MOST_KILLS_A_BATCH)));
} finally {
  await rm(home, { recursive: true, force: true });
}
const record = { at: new Date().toISOString(), cpus: cpus().length, seed, kills: done, batches, unknown, violations };
await appendFile(RESULTS, `${JSON.stringify(record)}\n`);
process.stdout.write(
  `${done} kills over ${batches} batches, ${unknown} unknown calls, ${violations.length} violations\n`,
);
process.exitCode = violations.length === 0 ? 0 : 1;

/** One batch: killed `count` times at random moments, then resumed to its end. */
async function round(batch: string, count: number): Promise<void> {
  const args = ['--once', '--json', '--approver', 'demo', '--batch', batch];
  for (let kill = 0; kill < count; kill += 1) {
    const isAtBoot = random() < BOOT_SHARE;
    const afterMs = Math.round(random() * (isAtBoot ? BOOT_MS : BATCH_MS));
    const { child, serving, ended } = startBatch(args, { LINECLEAR_HOME: home });
    if (!isAtBoot) await Promise.race([serving, ended]);
    await Promise.race([pause(afterMs), ended]);
    const tree = child.pid === undefined ? [] : processTree(child.pid);
    child.kill('SIGKILL');
    await ended;
    done += 1;
    const orphans = await orphansOf(tree);
    process.stdout.write(
      `${batch}: killed ${afterMs} ms after ${isAtBoot ? 'its start' : 'it served'}, ${tree.length} processes, ${orphans.length} left\n`,
    );
    if (orphans.length > 0)
      violations.push(`${batch}: left behind: ${orphans.map(({ command }) => command).join(' | ')}`);
  }
  const { code, stdout, stderr } = await startBatch(args, { LINECLEAR_HOME: home }).ended;
  const lines = stdout
    .split('\n')
    .flatMap((line) => (line.startsWith('{') ? [JSON.parse(line) as Record<string, unknown>] : []));
  const wrong = lines.filter(({ kind, ok }) => kind === 'run' && ok !== true);
  const summary = lines.find(({ kind }) => kind === 'summary');
  process.stdout.write(`${batch}: resumed, exit ${code}, ${JSON.stringify(summary ?? {})}\n`);
  if (code !== 0 || summary === undefined || wrong.length > 0)
    violations.push(
      `${batch}: exit ${code}, ${wrong.map((line) => JSON.stringify(line)).join('; ')} ${stderr.slice(-2000)}`,
    );
  if (violations.length > 0) process.stdout.write(`${violations.at(-1) ?? ''}\n`);
}

/** What of a killed tree still runs after a while. */
async function orphansOf(tree: readonly ProcessId[]): Promise<ProcessId[]> {
  const until = performance.now() + ORPHAN_MS;
  while (stillRunning(tree).length > 0 && performance.now() < until) await pause(100);
  return stillRunning(tree);
}
