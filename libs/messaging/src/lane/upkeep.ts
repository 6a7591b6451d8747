import { readHeld, heldCommandWork } from '../held/held-commands.js';
import type { JobRow } from '../jobs/job-row.js';
import { lose, recoverJobs } from '../jobs/recovery.js';
import { type Mailbox, openMailboxRows } from '../mailbox/mailbox.js';
import type { MailboxRow } from '../mailbox/mailbox-row.js';
import { OutboxPartitions } from '../outbox/outbox-partitions.js';
import type { Retention } from '../outbox/retention.js';
import type { LaneConnection } from './connection.js';
import type { DatabaseClock } from './database-clock.js';
import type { Liveness } from './liveness.js';
import type { Log } from './log.js';
import type { LaneMemory } from './memory.js';
import type { Shard } from './shard.js';
import type { SidePool } from './side-pool.js';
import { loadTimers } from './takeover.js';

/** Timers are in memory when due within the horizon, which is moved on at half of it. */
const HORIZON_MS = 60_000;
const FOREIGN_MS = 1_000;
const HOUR_MS = 3_600_000;
/** Not at the start, which has enough to do. */
const FIRST_HOUR_MS = 60_000;
/** Held messages of one key that are taken at once. */
const HELD_PER_KEY = 32;
const MAIL_LIMIT = 1_000;

export interface UpkeepOptions {
  readonly memory: LaneMemory;
  readonly connection: LaneConnection;
  readonly clock: DatabaseClock;
  readonly mailbox: Mailbox;
  readonly liveness: Liveness;
  readonly log: Log;
  readonly pool: SidePool;
  readonly mailboxPollMs: number;
  readonly retention: Retention;
}

/** What the lane looks after between batches, each at its time. */
export class Upkeep {
  #nextMail = 0;
  #nextForeign = 0;
  #nextHour = performance.now() + FIRST_HOUR_MS;
  #isMailing = false;
  /** jobs of our shards that another live owner runs */
  #elsewhere: JobRow[] = [];
  readonly #partitions: OutboxPartitions;

  constructor(private readonly options: UpkeepOptions) {
    this.#partitions = new OutboxPartitions(options.pool, options.log);
    options.memory.onStray = () => void this.#mailResults();
  }

  /** Before the bus is joined. @throws TransientError */
  async prepare(): Promise<void> {
    this.options.memory.timersUntil = this.options.clock.now() + HORIZON_MS;
    await this.#partitions.ensure(this.options.clock.now());
  }

  /** Takes in what shards hold that were just taken. @throws TransientError */
  async adopt(shards: readonly Shard[]): Promise<void> {
    const { memory, liveness, connection } = this.options;
    for (const shard of shards) {
      for (const entry of shard.timers.values()) memory.addTimer(entry);
      for (const key of shard.held.keys()) memory.scheduleHeld(shard, key);
    }
    const alive = await liveness.aliveOwners();
    this.#elsewhere = [...this.#elsewhere.filter(isStillThere(memory)), ...recoverJobs(shards, memory, alive)];
    const ids = shards.map(({ id }) => id);
    const mails = await openMailboxRows((text, values) => connection.query<MailboxRow>(text, values), ids, MAIL_LIMIT);
    for (const mail of mails) memory.addMail(mail);
  }

  /** Monotonic time of the next look at something that nobody here tells of. */
  get nextAt(): number {
    return Math.min(this.#nextMail, this.#nextForeign);
  }

  /** What is due now. @throws TransientError */
  async run(): Promise<void> {
    const { memory, clock, mailboxPollMs } = this.options;
    const now = clock.now();
    if (memory.heldDue.next !== undefined && memory.heldDue.next <= now) await this.#takeHeld(now);
    if (memory.controls.length > 0) await this.#takeControls(now);
    if (now > memory.timersUntil - HORIZON_MS / 2) await this.#moveHorizon(now);
    const at = performance.now();
    if (at >= this.#nextMail) {
      this.#nextMail = at + mailboxPollMs;
      await this.#pollMail();
    }
    if (at >= this.#nextForeign) {
      this.#nextForeign = at + FOREIGN_MS;
      await this.#watchElsewhere();
      void this.#mailResults();
    }
    if (at >= this.#nextHour) {
      this.#nextHour = at + HOUR_MS;
      void this.#everyHour(now);
    }
  }

  async #everyHour(now: number): Promise<void> {
    const { retention, log } = this.options;
    try {
      await this.#partitions.ensure(now);
      const dropped = await retention.run(now);
      if (dropped.length > 0) log.info({ dropped }, 'old days of the log were dropped');
    } catch (error) {
      log.warn({ err: error }, 'old rows could not be dropped; trying again in an hour');
    }
  }

  async #takeHeld(now: number): Promise<void> {
    const { memory, connection } = this.options;
    const keys = new Map<string, { key: string; n: number; shard: Shard }>();
    for (let due = memory.heldDue.take(now); due !== undefined; due = memory.heldDue.take(now)) {
      const first = due.shard.isLost ? undefined : due.shard.held.first(due.key);
      if (first !== undefined && (first.dueAt ?? 0) <= now) keys.set(due.key, { ...due, n: first.n });
    }
    if (keys.size === 0) return;
    const rows = await readHeld(connection, [...keys.values()], HELD_PER_KEY);
    for (const row of rows) {
      const shard = keys.get(row.key)?.shard;
      if (shard !== undefined && !shard.isLost) memory.addHeld(shard, row);
    }
  }

  async #takeControls(now: number): Promise<void> {
    const { memory, connection } = this.options;
    for (const mail of memory.controls.splice(0)) {
      const shard = memory.shards.get(mail.shard);
      if (shard === undefined || memory.knownMail.get(mail.id) !== shard) continue;
      const work = await heldCommandWork(mail, shard, connection, memory.reader, now);
      if (!shard.isLost) memory.queue.push(work);
    }
  }

  async #moveHorizon(now: number): Promise<void> {
    const { memory, connection } = this.options;
    const until = now + HORIZON_MS;
    const entries = await loadTimers(connection, [...memory.shards.values()], new Date(until));
    memory.timersUntil = until;
    for (const entry of entries) memory.addTimer(entry);
  }

  async #pollMail(): Promise<void> {
    const { memory, connection } = this.options;
    const ids = [...memory.shards.keys()];
    if (ids.length === 0) return;
    const mails = await openMailboxRows((text, values) => connection.query<MailboxRow>(text, values), ids, MAIL_LIMIT);
    for (const mail of mails) memory.addMail(mail);
  }

  /** Jobs of owners that died since their shard came here. */
  async #watchElsewhere(): Promise<void> {
    const { memory, liveness } = this.options;
    this.#elsewhere = this.#elsewhere.filter(isStillThere(memory));
    if (this.#elsewhere.length === 0) return;
    const alive = await liveness.aliveOwners();
    const dead = this.#elsewhere.filter(({ owner }) => owner === null || !alive.has(owner));
    this.#elsewhere = this.#elsewhere.filter((row) => !dead.includes(row));
    for (const row of dead) {
      const shard = memory.shards.get(row.shard);
      if (shard !== undefined) lose(shard, row, memory);
    }
  }

  /** Results of jobs whose shard moved go to the mailbox of its owner. */
  async #mailResults(): Promise<void> {
    const { memory, mailbox } = this.options;
    if (this.#isMailing) return;
    this.#isMailing = true;
    try {
      for (const job of memory.jobs.unreleased((shard) => !memory.shards.has(shard))) {
        const { row, outcome } = job;
        const { id, attempt, key, tenant, shard, traceparent } = row;
        const payload = JSON.stringify({ job: row, outcome });
        const mailId = `job/${id}/${attempt}`;
        await mailbox.insert({
          id: mailId,
          shard,
          kind: 'job-result',
          name: row.kind,
          key,
          tenant,
          payload,
          by: null,
          traceparent,
        });
        memory.jobs.mailed(job);
      }
    } catch (error) {
      this.options.log.warn({ err: error }, 'a result could not be put into the mailbox; trying again');
    } finally {
      this.#isMailing = false;
    }
  }
}

function isStillThere(memory: LaneMemory): (row: JobRow) => boolean {
  return (row) => memory.shards.get(row.shard)?.jobs.get(row.id) === row;
}
