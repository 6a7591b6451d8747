export { EmbeddedBus, type EmbeddedBusOptions } from './bus/embedded/embedded-bus.js';
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
export { DROP_HELD, REDRIVE_HELD } from './held/held-commands.js';
export type { LaneCounters } from './lane/counters.js';
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
export { Lane, type LaneOptions } from './lane/lane.js';
export { LaneGroup } from './lane/lane-group.js';
export type { Log } from './lane/log.js';
export { SharedCommits } from './lane/shared-commits.js';
export type { Executor, Handler } from './lane/registry.js';
export { type ColumnType, defineTable, type Row, type TableSpec } from './lane/table.js';
export { COMMAND_SENDER, type CommandRequest, type CommandSender } from './mailbox/command-sender.js';
export { ExecutesJob, Handles } from './nest/decorators.js';
export { LaneTransportStrategy } from './nest/transport-strategy.js';
export { MESSAGING_MIGRATIONS } from './tables/messaging-tables.js';
