export { type ApprovalDecision, LineclearClient, type SubmittedTask, type Task } from './client.js';
export { readEventStream, type StreamEvent } from './event-stream.js';
export type { ClientOptions } from './http.js';
export type {
  ApprovalView,
  AuditVerdict,
  AuditView,
  CallView,
  DecisionView,
  Page,
  ParkedView,
  PolicyCheck,
  ReplayVerdict,
  RunSummary,
  RunView,
  ToolListing,
  UnknownCall,
} from './views.js';
