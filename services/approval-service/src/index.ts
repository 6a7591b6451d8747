export { approvalService } from './approval-service.js';
