import { LineclearClient } from '@lineclear/client';
import { type Platform, startPlatform } from '@lineclear/standalone';
import { join } from 'node:path';
import { treeCpuSeconds } from './cpu.js';

export interface RunFigures {
  readonly steps: number;
  readonly seconds: number;
  readonly cpuSeconds: number;
  /** wall milliseconds per step of each run, from its submission to its end */
  readonly stepMs: readonly number[];
}

const TENANT = 'bench';

/** The platform on the benchmark's project, with a client that submits as the bench subject. */
export async function startBenchPlatform(project: string): Promise<{ platform: Platform; client: LineclearClient }> {
  const platform = await startPlatform({
    environment: { PATH: process.env['PATH'], LOG_LEVEL: 'warn' },
    projectDir: project,
    homeDir: join(project, 'home'),
    port: 0,
  });
  const token = await platform.issuer.issue({ tenant: TENANT, subject: 'bench', roles: ['bench'], scopes: [] });
  return { platform, client: new LineclearClient({ url: platform.url, token }) };
}

/** `concurrent` runs side by side, `total` in all, each of `steps` steps (a model call and a tool call each, then the answer). */
export async function benchRuns(
  client: LineclearClient,
  options: { concurrent: number; total: number; steps: number; name: string },
): Promise<RunFigures> {
  const { concurrent, total, steps, name } = options;
  const stepMs: number[] = [];
  let next = 0;
  const worker = async () => {
    for (let index = next; index < total; index = next) {
      next += 1;
      const started = performance.now();
      const { runId } = await client.submit({
        id: `${name}-${index}`,
        source: '/bench',
        data: { agent: `bench-${steps}`, input: { n: index } },
      });
      const run = await client.waitForRun(runId);
      if (run.state !== 'answered' || run.totals.effects !== steps)
        throw new Error(`run ${runId} ended ${run.state}: ${run.reason} with ${run.totals.effects} effects`);
      stepMs.push((performance.now() - started) / steps);
    }
  };
  const cpuBefore = treeCpuSeconds();
  const started = performance.now();
  await Promise.all(Array.from({ length: concurrent }, worker));
  return {
    steps: total * steps,
    seconds: (performance.now() - started) / 1000,
    cpuSeconds: treeCpuSeconds() - cpuBefore,
    stepMs,
  };
}
