import { ConflictError, InvariantViolationError } from '@lineclear/errors';
import { derivedId, type EventName, type ServiceName, shardOf } from '@lineclear/contracts';
import { type EncodedEvent, encodeEvent } from '../outbox/encoded-event.js';
import { MAILBOX_TABLE, TIMER_TABLE } from '../tables/lane-tables.js';
import type { CommandResult, NewCommand, NewEvent, NewJob, NewTimer, StateStore, WriteSet } from './batch.js';
import type { MailboxRow } from '../mailbox/mailbox-row.js';
import type { ColumnCheck } from './column-check.js';
import type { LaneInput } from './input.js';
import type { OpKind } from './table-fold.js';
import type { Row, TableSpec } from './table.js';
import type { Work } from './work.js';

export interface FragmentOp {
  readonly table: TableSpec;
  readonly kind: OpKind;
  readonly row: Row;
  readonly expect?: number | undefined;
}

/** What the fragments of one batch have in common. */
export interface FragmentContext {
  readonly service: ServiceName;
  /** this process start */
  readonly owner: string;
  readonly nowMs: number;
  /** the same as ISO time */
  readonly time: string;
  readonly columns: ColumnCheck;
  /** whether this process runs jobs of that kind */
  runsJobs(kind: string): boolean;
}

/** What one input wants written, until it is merged into the batch or dropped whole. */
export class Fragment implements WriteSet {
  readonly ops: FragmentOp[] = [];
  readonly events: EncodedEvent[] = [];
  readonly jobs: { readonly job: NewJob; readonly payload: string }[] = [];
  /** timers set, and cleared where `timer` is undefined, in order */
  readonly timers: { readonly key: string; readonly name: string; readonly timer: NewTimer | undefined }[] = [];
  readonly abortedJobs: string[] = [];
  readonly commands: MailboxRow[] = [];
  readonly states = new Map<StateStore<unknown>, Map<string, unknown>>();
  result: CommandResult | undefined;
  isJobDropped = false;

  constructor(
    readonly work: Work,
    readonly context: FragmentContext,
  ) {}

  insert(table: TableSpec, row: Row): void {
    this.write(table, 'insert', row);
  }

  insertOnce(table: TableSpec, row: Row): void {
    this.write(table, 'once', row);
  }

  put(table: TableSpec, row: Row, expect?: number): void {
    if (expect === undefined) return this.write(table, 'put', row);
    if (table.version === undefined) throw broken(`table \`${table.name}\` has no version to expect`);
    this.write(table, expect === 0 ? 'insert' : 'replace', row, expect);
  }

  remove(table: TableSpec, key: Row): void {
    this.write(table, 'remove', key);
  }

  write(table: TableSpec, kind: OpKind, row: Row, expect?: number): void {
    this.context.columns.check(table, row);
    for (const column of table.key)
      if (row[column] === undefined || row[column] === null)
        throw broken(`a row of \`${table.name}\` lacks its key column \`${column}\``);
    this.ops.push({ table, kind, row, expect });
  }

  emit<N extends EventName>(event: NewEvent<N>): void {
    const { input, traceparent } = this.work;
    const cause = input === undefined ? this.work.key : causeOf(input);
    const { service, time } = this.context;
    const id = derivedId(service, input?.kind ?? 'lane', cause, this.events.length);
    const partition = this.#shardOf(event.key);
    this.events.push(encodeEvent(event, partition, id, { service, id: cause, traceparent, time }));
  }

  startJob(job: NewJob): void {
    if (!this.context.runsJobs(job.kind)) throw broken(`no executor is bound to jobs of kind \`${job.kind}\``);
    this.#mustBeOwn(job.key);
    this.jobs.push({ job, payload: JSON.stringify(job.payload ?? null) });
  }

  abortJob(id: string): void {
    this.abortedJobs.push(id);
  }

  dropJob(id: string): void {
    const { work } = this;
    if (work.origin !== 'dispatch' || work.row.id !== id)
      throw broken(`job \`${id}\` can be dropped only where its dispatch is handled`);
    this.isJobDropped = true;
  }

  setTimer(timer: NewTimer): void {
    const { key, name, dueAt, payload } = timer;
    if (!(dueAt instanceof Date) || Number.isNaN(dueAt.getTime()))
      throw broken(`timer \`${name}\` has no valid due time`);
    this.#mustBeOwn(key);
    const row = { key, name, shard: this.work.shard.id, due_at: dueAt, payload: JSON.stringify(payload ?? null) };
    this.ops.push({ table: TIMER_TABLE, kind: 'put', row });
    this.timers.push({ key, name, timer });
  }

  clearTimer(key: string, name: string): void {
    this.ops.push({ table: TIMER_TABLE, kind: 'remove', row: { key, name } });
    this.timers.push({ key, name, timer: undefined });
  }

  send(command: NewCommand): void {
    const { id, name, key, tenant, payload, by } = command;
    this.sendRow({
      id,
      shard: this.#shardOf(key),
      kind: 'message',
      name,
      key,
      tenant,
      payload: JSON.stringify(payload ?? null),
      by: by === null ? null : JSON.stringify(by),
      traceparent: this.work.traceparent ?? null,
    });
  }

  sendRow(row: MailboxRow): void {
    this.ops.push({ table: MAILBOX_TABLE, kind: 'once', row: { ...row } });
    this.commands.push(row);
  }

  answer(result: CommandResult): void {
    if (this.work.origin !== 'mailbox') throw broken('only a command can be answered');
    this.result = result;
  }

  setState<S>(store: StateStore<S>, key: string, state: S): void {
    let states = this.states.get(store);
    if (states === undefined) this.states.set(store, (states = new Map()));
    states.set(key, state);
  }

  #shardOf(key: string): number {
    return key === this.work.key ? this.work.shard.id : shardOf(key);
  }

  /** Jobs and timers live with the shard of their input: no other replica looks for them there. */
  #mustBeOwn(key: string): void {
    if (this.#shardOf(key) !== this.work.shard.id)
      throw broken(`key \`${key}\` belongs to another shard than input key \`${this.work.key}\`; send a command to it`);
  }
}

/** A job's attempts are different causes: what the second one yields is no repetition of the first. */
function causeOf(input: LaneInput): string {
  return input.kind === 'job' || input.kind === 'dispatch' ? `${input.id}/${input.attempt}` : input.id;
}

function broken(message: string): InvariantViolationError {
  return new InvariantViolationError('invariant-violated', message);
}

/** An input that must be decided again, alone, after a reload. */
export const isRepeatable = (error: unknown): boolean =>
  error instanceof ConflictError && error.disposition === 'retry-now';
