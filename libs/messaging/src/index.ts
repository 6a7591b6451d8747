export type { Bus, BusMembership, BusPosition, BusRecord, BusSink, JoinOptions } from './bus/bus.js';
export type {
  CommandResult,
  LaneBatch,
  LaneContext,
  NewCommand,
  NewEvent,
  NewJob,
  NewTimer,
  ReadHandle,
  StateStore,
  WriteSet,
} from './lane/batch.js';
export type { BatchHandler, JobExecutor, JobKind, Patterns, RunningJob, SingleHandler } from './lane/handlers.js';
export type {
  CommandInput,
  DispatchInput,
  DroppedInput,
  EventInput,
  JobInput,
  JobOutcome,
  LaneInput,
  TimerInput,
} from './lane/input.js';
export { type ColumnType, defineTable, type Row, type TableSpec } from './lane/table.js';
export { COMMAND_SENDER, type CommandRequest, type CommandSender } from './mailbox/command-sender.js';
export { ExecutesJob, Handles } from './nest/decorators.js';
