import { Module } from '@nestjs/common';
import { ArchiveConsumer } from './adapters/bus/archive.consumer.js';
import { AuditConsumer } from './adapters/bus/audit.consumer.js';
import { AuditController } from './adapters/http/audit.controller.js';
import { EventsController } from './adapters/http/events.controller.js';
import { ReplayController } from './adapters/http/replay.controller.js';
import { RunTraceController } from './adapters/http/run-trace.controller.js';
import { Archive } from './adapters/postgres/archive.js';
import { AuditStore } from './adapters/postgres/audit-store.js';

@Module({
  controllers: [
    ArchiveConsumer,
    AuditConsumer,
    RunTraceController,
    ReplayController,
    EventsController,
    AuditController,
  ],
  providers: [Archive, AuditStore],
})
export class TraceStoreModule {}
