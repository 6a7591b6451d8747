import { Inject, Injectable, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { LOGGER } from '@lineclear/host';
import { type Logger, meterOf } from '@lineclear/telemetry';
import { Runs } from '../projections/runs.js';
import { findStuckRuns, type StuckRun } from './stuck-runs.js';

const LOOK_EVERY_MS = 10_000;

/**
 * Names live runs that nothing will move on: in the log once each, and as the metric `lineclear.runs.stuck`. A run counts when two looks in a row find
 * it, so that a backlog after a restart is no alarm; together with `quiet_until` that is within a minute.
 */
@Injectable()
export class StuckRunWatch implements OnApplicationBootstrap, OnModuleDestroy {
  private timer: NodeJS.Timeout | undefined;
  private suspected: ReadonlySet<string> = new Set();
  private named: ReadonlySet<string> = new Set();

  constructor(
    private readonly runs: Runs,
    @Inject(LOGGER) private readonly log: Logger,
  ) {}

  onApplicationBootstrap(): void {
    meterOf('orchestrator')
      .createObservableGauge('lineclear.runs.stuck', { description: 'live runs that nothing will move on' })
      .addCallback((result) => result.observe(this.named.size));
    this.timer = setInterval(() => void this.tick(), LOOK_EVERY_MS);
    this.timer.unref();
  }

  onModuleDestroy(): void {
    clearInterval(this.timer);
  }

  /** Looks once. Returns the runs that are stuck for sure. */
  async look(): Promise<StuckRun[]> {
    const found = await findStuckRuns(this.runs.read);
    const stuck = found.filter(({ runId }) => this.suspected.has(runId));
    for (const run of stuck)
      if (!this.named.has(run.runId)) this.log.error({ ...run }, 'a run is stuck: nothing will move it on');
    this.suspected = new Set(found.map(({ runId }) => runId));
    this.named = new Set(stuck.map(({ runId }) => runId));
    return stuck;
  }

  private async tick(): Promise<void> {
    try {
      await this.look();
    } catch (error) {
      this.log.warn({ err: error }, 'stuck runs cannot be looked for now');
    }
  }
}
