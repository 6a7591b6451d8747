import type { BusRecord } from '../bus/bus.js';
import type { HeldRow } from '../held/held-row.js';
import type { JobRow } from '../jobs/job-row.js';
import type { MailboxRow } from '../mailbox/mailbox-row.js';
import type { CommandResult } from './batch.js';
import type { LaneInput } from './input.js';
import type { EncodedEvent } from '../outbox/encoded-event.js';
import type { Handler } from './registry.js';
import type { Shard, TimerEntry } from './shard.js';
import type { OpKind } from './table-fold.js';
import type { Row, TableSpec } from './table.js';

interface WorkBase {
  readonly shard: Shard;
  readonly key: string;
  readonly bytes: number;
  /** what a handler decides; undefined when the lane answers alone */
  readonly input: LaneInput | undefined;
  readonly handler: Handler | undefined;
  /** continues the trace of what caused it */
  readonly traceparent: string | undefined;
  /** times that it was tried and put back in memory */
  tries: number;
}

export interface BusWork extends WorkBase {
  readonly origin: 'bus';
  readonly record: BusRecord;
  /** `skip`: not for this service; `invalid`: parked at once with `error`; `decide`: for a handler */
  readonly fate: 'skip' | 'invalid' | 'decide';
  readonly error?: unknown;
  readonly source: string;
  readonly id: string;
  readonly type: string;
}

export interface HeldWork extends WorkBase {
  readonly origin: 'held';
  readonly row: HeldRow;
  /** this release skips such messages on purpose */
  readonly skip: boolean;
  readonly error?: unknown;
}

export interface TimerWork extends WorkBase {
  readonly origin: 'timer';
  readonly entry: TimerEntry;
}

/** A job's result, or that it is lost. With `mailbox` it came through the mailbox, whose row is then answered. */
export interface JobWork extends WorkBase {
  readonly origin: 'job';
  readonly job: string;
  readonly attempt: number;
  readonly mailbox: MailboxRow | undefined;
}

export interface DispatchWork extends WorkBase {
  readonly origin: 'dispatch';
  readonly row: JobRow;
}

export interface MailboxWork extends WorkBase {
  readonly origin: 'mailbox';
  readonly mailbox: MailboxRow;
  /** of a drop: the held message that goes with the answer */
  readonly drop?: Drop;
  /** of a redrive: the held message, due now */
  readonly redriven?: HeldRow;
  /** of what the lane answers alone */
  readonly settle?: (fragment: AloneWrites) => void;
}

/** What the lane itself writes for a work that no handler sees. */
export interface AloneWrites {
  readonly events: EncodedEvent[];
  answer(result: CommandResult): void;
  write(table: TableSpec, kind: OpKind, row: Row): void;
}

export interface Drop {
  readonly row: HeldRow;
  readonly by: string;
  readonly reason: string;
}

/** One input on its way through the lane, with what becomes of it when it is done. */
export type Work = BusWork | HeldWork | TimerWork | JobWork | DispatchWork | MailboxWork;
