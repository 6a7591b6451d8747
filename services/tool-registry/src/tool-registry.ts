import type { ServiceDefinition } from '@lineclear/host';
import { type ToolRegistryConfig, toolRegistryConfig } from './config.js';
import { ToolRegistry1764400000001 } from './migrations/0001-tool-registry.js';
import { ToolRegistryModule } from './tool-registry.module.js';

export const toolRegistry: ServiceDefinition<ToolRegistryConfig> = {
  name: 'tool-registry',
  migrations: [ToolRegistry1764400000001],
  config: toolRegistryConfig,
  module: (config) => ToolRegistryModule.of(config),
};
