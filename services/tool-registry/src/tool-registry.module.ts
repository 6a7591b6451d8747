import type { DynamicModule } from '@nestjs/common';
import { CatalogueConsumer } from './adapters/bus/catalogue.consumer.js';
import { PoliciesConsumer } from './adapters/bus/policies.consumer.js';
import { RunsConsumer } from './adapters/bus/runs.consumer.js';
import { ToolCallExecutor } from './adapters/bus/tool-call.executor.js';
import { CallsController } from './adapters/http/calls.controller.js';
import { ToolsController } from './adapters/http/tools.controller.js';
import { PolicyKeys } from './adapters/keys/policy-keys.js';
import { McpHost } from './adapters/mcp/mcp-host.js';
import { BlobStore } from './adapters/postgres/blob-store.js';
import { ToolReader } from './adapters/postgres/tool-reader.js';
import { UnknownCalls } from './adapters/postgres/unknown-calls.js';
import { REGISTRY_CONFIG, type ToolRegistryConfig } from './config.js';

export class ToolRegistryModule {
  static of(config: ToolRegistryConfig): DynamicModule {
    return {
      module: ToolRegistryModule,
      controllers: [
        RunsConsumer,
        CatalogueConsumer,
        PoliciesConsumer,
        ToolCallExecutor,
        ToolsController,
        CallsController,
      ],
      providers: [
        McpHost,
        BlobStore,
        ToolReader,
        UnknownCalls,
        { provide: REGISTRY_CONFIG, useValue: config },
        { provide: PolicyKeys, useFactory: () => new PolicyKeys(config.policyKeys) },
      ],
    };
  }
}
