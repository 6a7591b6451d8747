// npm run bench [-- --seconds 4]: the platform's steps beside a raw PostgreSQL loop on the same server, interleaved; prints figures and ratios.
import { appendFile, rm } from 'node:fs/promises';
import { cpus } from 'node:os';
import { parseArgs } from 'node:util';
import { LineclearClient } from '@lineclear/client';
import { parseDatabaseUrl, startEmbeddedPostgres } from '@lineclear/persistence';
import { join } from 'node:path';
import { ROOT } from '../src/root.js';
import { residentMiB, treeCpuSeconds } from './cpu.js';
import { benchRuns, type RunFigures, startBenchPlatform } from './platform-runs.js';
import { benchProject } from './project.js';
import { rawLoop } from './raw-loop.js';
import { insideFigures, readCounters } from './inside.js';

const { values } = parseArgs({
  options: { seconds: { type: 'string', default: '4' }, rounds: { type: 'string', default: '3' } },
});
const seconds = Number(values.seconds);
const rounds = Number(values.rounds);
const STEPS = 10;
const LONG_STEPS = 160;
const RESULTS = join(ROOT, 'e2e/results/bench-embedded.jsonl');

interface Level {
  readonly concurrent: number;
  /** runs per round, enough for a few seconds */
  readonly total: number;
  /** the platform's steps/s over the loop's must reach this */
  readonly bar: number | null;
}

const LEVELS: readonly Level[] = [
  { concurrent: 1, total: 30, bar: 0.08 },
  { concurrent: 16, total: 240, bar: null },
  { concurrent: 64, total: 512, bar: 0.13 },
];

const project = await benchProject([STEPS, LONG_STEPS]);
const out = (text: string) => process.stdout.write(`${text}\n`);
const record: Record<string, unknown> = {
  at: new Date().toISOString(),
  cpus: cpus().length,
  model: cpus()[0]?.model,
  node: process.version,
};
const server = await startEmbeddedPostgres({ dataDir: join(project, 'raw') });
const { platform, client } = await startBenchPlatform(project);
try {
  out(`${cpus().length} x ${cpus()[0]?.model ?? 'cpu'}, Node ${process.version}, fsync on, ${rounds} rounds, medians`);
  await warmUp(client);
  const before = await readCounters(platform.url);
  for (const level of LEVELS) record[`runs${level.concurrent}`] = await measure(level, client);
  const steps = LEVELS.reduce((sum, { total }) => sum + total * STEPS * rounds, 0);
  record['inside'] = insideFigures(before, await readCounters(platform.url), steps);
  out(`inside: ${JSON.stringify(record['inside'])}`);
  record['length'] = await measureLength(client);
  record['residentMiB'] = Math.round(residentMiB());
  out(`resident memory after the bench: ${record['residentMiB'] as number} MiB (bar 400)`);
  await appendFile(RESULTS, `${JSON.stringify(record)}\n`);
} finally {
  await platform.stop();
  await server.stop();
  await rm(project, { recursive: true, force: true });
}
process.exit();

/** Until the compiler has done most of its work: it takes thousands of steps, and a platform serves for days. */
async function warmUp(on: LineclearClient): Promise<void> {
  for (const { concurrent, total } of LEVELS)
    await benchRuns(on, { concurrent, total: 2 * total, steps: STEPS, name: `warm-up-${concurrent}` });
}

async function measure({ concurrent, total, bar }: Level, on: LineclearClient) {
  const ours: RunFigures[] = [];
  const loops: { rate: number; cpuMs: number }[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const cpuBefore = treeCpuSeconds();
    const loop = await rawLoop(parseDatabaseUrl(server.url), concurrent, seconds);
    loops.push({ rate: loop.steps / loop.seconds, cpuMs: ((treeCpuSeconds() - cpuBefore) * 1000) / loop.steps });
    ours.push(await benchRuns(on, { concurrent, total, steps: STEPS, name: `b${concurrent}-${round}` }));
  }
  const rate = median(ours.map((run) => run.steps / run.seconds));
  const cpuMs = median(ours.map((run) => (run.cpuSeconds * 1000) / run.steps));
  const loopRate = median(loops.map((loop) => loop.rate));
  const loopCpuMs = median(loops.map((loop) => loop.cpuMs));
  const stepMs = ours.flatMap((run) => run.stepMs).sort((a, b) => a - b);
  const figures = {
    stepsPerSecond: round1(rate),
    loopPerSecond: round1(loopRate),
    ratio: round3(rate / loopRate),
    bar,
    cpuMsPerStep: round3(cpuMs),
    loopCpuMsPerStep: round3(loopCpuMs),
    cpuRatio: round1(cpuMs / loopCpuMs),
    stepMsP50: round1(quantile(stepMs, 0.5)),
    stepMsP99: round1(quantile(stepMs, 0.99)),
  };
  out(`${String(concurrent).padStart(3)} runs: ${JSON.stringify(figures)}`);
  return figures;
}

/** Cost per step of long runs over that of short ones: bar 1.15. */
async function measureLength(on: LineclearClient) {
  const ratios: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const short = await benchRuns(on, { concurrent: 16, total: 160, steps: STEPS, name: `s${round}` });
    const long = await benchRuns(on, { concurrent: 16, total: 16, steps: LONG_STEPS, name: `l${round}` });
    ratios.push(long.cpuSeconds / long.steps / (short.cpuSeconds / short.steps));
  }
  const figures = { cpuPerStepAt160Over10: round3(median(ratios)), bar: 1.15 };
  out(`length: ${JSON.stringify(figures)}`);
  return figures;
}

function median(values: readonly number[]): number {
  return quantile(
    [...values].sort((a, b) => a - b),
    0.5,
  );
}

function quantile(sorted: readonly number[], q: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * q))] ?? Number.NaN;
}

function round1(value: number): number {
  return Math.round(value * 10) / 10;
}

function round3(value: number): number {
  return Math.round(value * 1000) / 1000;
}
