import { runService } from '@lineclear/host';
import { approvalService } from './approval-service.js';

await runService(approvalService);
