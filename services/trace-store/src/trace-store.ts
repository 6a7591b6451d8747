import type { ServiceDefinition } from '@lineclear/host';
import { Archive1764400000001 } from './migrations/0001-archive.js';
import { Audit1764400000002 } from './migrations/0002-audit.js';
import { TraceStoreModule } from './trace-store.module.js';

export const traceStore: ServiceDefinition<null> = {
  name: 'trace-store',
  gatherMs: 150,
  migrations: [Archive1764400000001, Audit1764400000002],
  config: () => null,
  module: () => TraceStoreModule,
};
