import type { ServiceDefinition } from '@lineclear/host';
import { type OrchestratorConfig, orchestratorConfig } from './config.js';
import { Runs1764400000001 } from './migrations/0001-runs.js';
import { OrchestratorModule } from './orchestrator.module.js';

export const orchestrator: ServiceDefinition<OrchestratorConfig> = {
  name: 'orchestrator',
  migrations: [Runs1764400000001],
  config: orchestratorConfig,
  module: (config) => OrchestratorModule.of(config),
};
