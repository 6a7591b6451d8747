import { Controller, Inject } from '@nestjs/common';
import { ExecutesJob, type RunningJob } from '@lineclear/messaging';
import type { ModelOutcome } from '@lineclear/model-gateway';
import { MODEL_CALL, type ModelCallPayload } from '../../application/names.js';
import { OpenModelCalls } from '../../application/open-model-calls.js';
import { runModelCall } from '../../application/run-model-call.js';
import { ORCHESTRATOR_CONFIG, type OrchestratorConfig } from '../../config.js';
import { Runs } from '../../projections/runs.js';
import { loadRuns } from '../postgres/run-store.js';

/** Model calls that one process has open at once. */
const CONCURRENCY = 256;

@Controller()
export class ModelCallExecutor {
  constructor(
    @Inject(ORCHESTRATOR_CONFIG) private readonly config: OrchestratorConfig,
    private readonly openModelCalls: OpenModelCalls,
    private readonly runs: Runs,
  ) {}

  @ExecutesJob({ kind: MODEL_CALL, concurrency: CONCURRENCY })
  execute(job: RunningJob<ModelCallPayload>, signal: AbortSignal): Promise<ModelOutcome> {
    return runModelCall(job, signal, {
      gateway: this.config.gateway,
      open: this.openModelCalls,
      load: async (runId) => (await loadRuns([runId], this.runs.read)).get(runId),
    });
  }
}
