import type { DynamicModule } from '@nestjs/common';
import { RecallConsumer } from './adapters/bus/recall.consumer.js';
import { FactsController } from './adapters/http/facts.controller.js';
import { FactStore } from './adapters/postgres/fact-store.js';
import { MEMORY_CONFIG, type MemoryStoreConfig } from './config.js';

export class MemoryStoreModule {
  static of(config: MemoryStoreConfig): DynamicModule {
    return {
      module: MemoryStoreModule,
      controllers: [RecallConsumer, FactsController],
      providers: [FactStore, { provide: MEMORY_CONFIG, useValue: config }],
    };
  }
}
