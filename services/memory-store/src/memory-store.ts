import type { ServiceDefinition } from '@lineclear/host';
import { type MemoryStoreConfig, memoryStoreConfig } from './config.js';
import { MemoryStoreModule } from './memory-store.module.js';
import { Facts1764400000001 } from './migrations/0001-facts.js';

export const memoryStore: ServiceDefinition<MemoryStoreConfig> = {
  name: 'memory-store',
  migrations: [Facts1764400000001],
  config: memoryStoreConfig,
  module: (config) => MemoryStoreModule.of(config),
};
