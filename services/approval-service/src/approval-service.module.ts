import type { DynamicModule } from '@nestjs/common';
import { ApprovalsConsumer } from './adapters/bus/approvals.consumer.js';
import { ApprovalsController } from './adapters/http/approvals.controller.js';
import { Approvals } from './adapters/postgres/approvals.js';

export class ApprovalServiceModule {
  static create(): DynamicModule {
    return {
      module: ApprovalServiceModule,
      controllers: [ApprovalsConsumer, ApprovalsController],
      providers: [Approvals],
    };
  }
}
