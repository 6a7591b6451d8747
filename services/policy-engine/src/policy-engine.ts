import type { ServiceDefinition } from '@lineclear/host';
import { type PolicyEngineConfig, policyEngineConfig } from './config.js';
import { Decisions1764400000001 } from './migrations/0001-decisions.js';
import { PolicyEngineModule } from './policy-engine.module.js';

export const policyEngine: ServiceDefinition<PolicyEngineConfig> = {
  name: 'policy-engine',
  migrations: [Decisions1764400000001],
  config: policyEngineConfig,
  module: (config) => PolicyEngineModule.of(config),
};
