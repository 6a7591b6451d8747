import { Controller, Inject } from '@nestjs/common';
import { Handles, type LaneBatch, type LaneInput } from '@lineclear/messaging';
import { handleRuns, type RunDesk } from '../../application/handle-runs.js';
import { QUIET_TIMER, RESOLVE_CALL, TOOL_CALL_JOB, TOOLSET_TIMER } from '../../application/run-commands.js';
import { Toolsets } from '../../application/take-toolset.js';
import { REGISTRY_CONFIG, type ToolRegistryConfig } from '../../config.js';
import { PolicyKeys } from '../keys/policy-keys.js';
import { CatalogueReader } from '../postgres/catalogue-reader.js';

/** Everything about a run, in its order: its start, its permits, the ends of its calls, its stop. */
@Controller()
export class RunsConsumer {
  private readonly desk: RunDesk;

  constructor(keys: PolicyKeys, @Inject(REGISTRY_CONFIG) config: ToolRegistryConfig) {
    const servers = config.servers.map(({ name }) => name);
    this.desk = { keys, catalogue: new CatalogueReader(), toolsets: new Toolsets(), servers };
  }

  @Handles(
    {
      events: ['run.started', 'run.stop-started', 'tool-call.authorized'],
      commands: [RESOLVE_CALL],
      timers: [TOOLSET_TIMER, QUIET_TIMER],
      jobs: [TOOL_CALL_JOB],
      dispatches: [TOOL_CALL_JOB],
      dropped: ['run.started', 'tool-call.authorized'],
    },
    { batch: true },
  )
  async handleRuns(inputs: readonly LaneInput[], batch: LaneBatch): Promise<void> {
    await handleRuns(inputs, batch, this.desk);
  }
}
