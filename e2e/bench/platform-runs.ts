import { join } from 'node:path';
import { LineclearClient, type RunSummary } from '@lineclear/client';
import { type Platform, startPlatform } from '@lineclear/standalone';
import { treeCpuSeconds } from './cpu.js';

export interface RunFigures {
  readonly steps: number;
  /** from the first run's start to the last one's end, on the database's clock; of single runs, the sum of their times */
  readonly seconds: number;
  readonly cpuSeconds: number;
  /** milliseconds per step of each run, from its start to its end */
  readonly stepMs: readonly number[];
}

const TENANT = 'bench';
/** Looking costs CPU too; single runs are timed by the database, so nothing waits for a look. */
const LOOK_MS = 50;
const LOOK_AT_ONE_MS = 200;

/** The platform on the benchmark's project, with a client that submits as the bench subject. */
export async function startBenchPlatform(project: string): Promise<{ platform: Platform; client: LineclearClient }> {
  const platform = await startPlatform({
    environment: { PATH: process.env['PATH'], LOG_LEVEL: 'error' },
    projectDir: project,
    homeDir: join(project, 'home'),
    port: 0,
  });
  const token = await platform.issuer.issue({ tenant: TENANT, subject: 'bench', roles: ['bench'], scopes: [] });
  return { platform, client: new LineclearClient({ url: platform.url, token }) };
}

export interface BenchOptions {
  readonly concurrent: number;
  readonly total: number;
  readonly steps: number;
  readonly name: string;
}

/** `concurrent` runs side by side, `total` in all, each of `steps` steps (a model call and a tool call each, then the answer). */
export async function benchRuns(
  client: LineclearClient,
  { concurrent, total, steps, name }: BenchOptions,
): Promise<RunFigures> {
  const open = new Set<string>();
  const ended: RunSummary[] = [];
  let sent = 0;
  const send = async () => {
    const index = (sent += 1);
    const data = { agent: `bench-${steps}`, input: { n: index } };
    open.add((await client.submit({ id: `${name}-${index}`, source: '/bench', data })).runId);
  };
  const look = async () => {
    await new Promise((resolve) => setTimeout(resolve, concurrent === 1 ? LOOK_AT_ONE_MS : LOOK_MS));
    const { items } = await client.listRuns({ limit: 2 * concurrent });
    const finished = items.filter((run) => run.finishedAt !== null && open.delete(run.runId));
    ended.push(...finished);
    return finished.length;
  };
  const cpuBefore = treeCpuSeconds();
  const slots = new Set<Promise<void>>();
  const fill = (count: number) => {
    for (let free = Math.min(count, total - sent); free > 0; free -= 1) slots.add(send());
  };
  fill(concurrent);
  // a run that ends makes room at once: the next one does not wait for others to be accepted
  while (ended.length < total) fill(await look());
  await Promise.all(slots);
  const wrong = ended.find(({ state }) => state !== 'answered');
  if (wrong !== undefined) throw new Error(`run ${wrong.runId} ended ${wrong.state}: ${wrong.reason}`);
  return { steps: total * steps, cpuSeconds: treeCpuSeconds() - cpuBefore, ...timesOf(ended, concurrent, steps) };
}

function timesOf(
  ended: readonly RunSummary[],
  concurrent: number,
  steps: number,
): Pick<RunFigures, 'seconds' | 'stepMs'> {
  const spans = ended.map(
    ({ startedAt, finishedAt }) => [Date.parse(startedAt), Date.parse(finishedAt ?? '')] as const,
  );
  const lengths = spans.map(([from, to]) => to - from);
  const wallMs = Math.max(...spans.map(([, to]) => to)) - Math.min(...spans.map(([from]) => from));
  const sumMs = lengths.reduce((sum, length) => sum + length, 0);
  return { seconds: (concurrent === 1 ? sumMs : wallMs) / 1000, stepMs: lengths.map((length) => length / steps) };
}
