import type { ServiceDefinition } from '@lineclear/host';
import { ApprovalServiceModule } from './approval-service.module.js';
import { Approvals1764400000001 } from './migrations/0001-approvals.js';

/** It has no configuration of its own: everything about a request comes with the referral. */
export const approvalService: ServiceDefinition<Record<string, never>> = {
  name: 'approval-service',
  migrations: [Approvals1764400000001],
  config: () => ({}),
  module: () => ApprovalServiceModule.create(),
};
