import { currentTraceparent } from '@lineclear/telemetry';
import { randomUUID } from 'node:crypto';
import { shardOf } from '@lineclear/contracts';
import { TransientError } from '@lineclear/errors';
import type { CommandResult, NewCommand } from '../lane/batch.js';
import type { SidePool } from '../lane/side-pool.js';
import type { CommandRequest, CommandSender } from './command-sender.js';
import type { MailboxRow } from './mailbox-row.js';

const INSERT = `INSERT INTO mailbox (id, shard, kind, name, key, tenant, payload, by, traceparent)
  VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) ON CONFLICT (id) DO NOTHING RETURNING id`;
const INSERT_MANY = `INSERT INTO mailbox (id, shard, kind, name, key, tenant, payload, by, traceparent)
  SELECT id, shard, kind, name, key, tenant, payload, by, traceparent FROM json_to_recordset($1::json)
    AS v(id text, shard int, kind text, name text, key text, tenant text, payload text, by text, traceparent text)
  ON CONFLICT (id) DO NOTHING RETURNING id`;
const COLUMNS = 'id, shard, kind, name, key, tenant, payload, by, traceparent';
const FIRST_POLL_MS = 50;
const LAST_POLL_MS = 500;

/** How the lane of this process is told of a row that was committed just now. */
export type Wake = (row: MailboxRow) => void;

interface Waiter {
  readonly resolve: (result: CommandResult) => void;
  readonly reject: (error: unknown) => void;
}

/** The mailbox of a service: sends commands to the owner of a shard, in this process or in another replica. */
export class Mailbox implements CommandSender {
  readonly #waiters = new Map<string, Set<Waiter>>();
  #timer: NodeJS.Timeout | undefined;
  #pollMs = FIRST_POLL_MS;

  constructor(
    private readonly pool: SidePool,
    private readonly wake: Wake,
  ) {}

  async send(request: CommandRequest, options: { waitMs?: number } = {}): Promise<CommandResult> {
    const { name, id = randomUUID() } = request;
    const row = commandRow({ ...request, id }, 'command');
    const waitMs = options.waitMs ?? 10_000;
    const waiting = this.#wait(id, name, waitMs);
    try {
      await this.insert(row);
    } catch (error) {
      waiting.cancel();
      throw error;
    }
    return await waiting.result;
  }

  async post(commands: readonly NewCommand[]): Promise<void> {
    const rows = commands.map((command) => commandRow(command, 'message'));
    const inserted = await this.pool.query<{ id: string }>(INSERT_MANY, [JSON.stringify(rows)]);
    const fresh = new Set(inserted.map(({ id }) => id));
    for (const row of rows) if (fresh.delete(row.id)) this.wake(row);
  }

  /** Puts a row in and wakes the owner if it is here. A known id is not taken again. @throws TransientError */
  async insert(row: MailboxRow): Promise<void> {
    const { id, shard, kind, name, key, tenant, payload, by, traceparent } = row;
    const inserted = await this.pool.query(INSERT, [id, shard, kind, name, key, tenant, payload, by, traceparent]);
    if (inserted.length > 0) this.wake(row);
    else this.#poll(0);
  }

  /** Tells who waits here of a result that the lane has just committed. */
  answered(id: string, result: CommandResult): void {
    const waiters = this.#waiters.get(id);
    if (waiters === undefined) return;
    this.#waiters.delete(id);
    for (const { resolve } of waiters) resolve(result);
  }

  #wait(id: string, name: string, waitMs: number) {
    const { promise, resolve, reject } = Promise.withResolvers<CommandResult>();
    const waiter: Waiter = { resolve, reject };
    const waiters = this.#waiters.get(id) ?? new Set();
    this.#waiters.set(id, waiters.add(waiter));
    const cancel = () => {
      clearTimeout(timer);
      waiters.delete(waiter);
      if (waiters.size === 0 && this.#waiters.get(id) === waiters) this.#waiters.delete(id);
    };
    const timer = setTimeout(() => {
      cancel();
      reject(
        new TransientError('timed-out', `command \`${name}\` was not answered in ${waitMs} ms; it may still be done`, {
          details: { id },
        }),
      );
    }, waitMs);
    this.#poll(FIRST_POLL_MS);
    const result = promise.finally(cancel);
    // may be late while the insert is still under way, before anyone awaits it
    result.catch(() => undefined);
    return { result, cancel };
  }

  /** Results that another replica wrote come only by looking. */
  #poll(afterMs: number): void {
    if (afterMs === 0) clearTimeout(this.#timer);
    else if (this.#timer !== undefined) return;
    this.#pollMs = FIRST_POLL_MS;
    this.#schedule(afterMs);
  }

  #schedule(afterMs: number): void {
    this.#timer = setTimeout(() => void this.#look(), afterMs);
    this.#timer.unref();
  }

  async #look(): Promise<void> {
    this.#timer = undefined;
    const ids = [...this.#waiters.keys()];
    if (ids.length === 0) return;
    try {
      const rows = await this.pool.query<{ id: string; result: string }>(
        'SELECT id, result FROM mailbox WHERE id = ANY($1) AND result IS NOT NULL',
        [ids],
      );
      for (const { id, result } of rows) this.answered(id, JSON.parse(result) as CommandResult);
    } catch (error) {
      if (!(error instanceof TransientError)) for (const id of ids) this.#fail(id, error);
    }
    this.#pollMs = Math.min(this.#pollMs * 2, LAST_POLL_MS);
    if (this.#waiters.size > 0 && this.#timer === undefined) this.#schedule(this.#pollMs);
  }

  #fail(id: string, error: unknown): void {
    const waiters = this.#waiters.get(id);
    this.#waiters.delete(id);
    for (const { reject } of waiters ?? []) reject(error);
  }

  /** Stops looking for answers. Whoever still waits is told at the end of its time. */
  stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }
}

function commandRow({ id, name, key, tenant, payload, by }: NewCommand, kind: MailboxRow['kind']): MailboxRow {
  return {
    id,
    shard: shardOf(key),
    kind,
    name,
    key,
    tenant,
    payload: JSON.stringify(payload ?? null),
    by: by === null ? null : JSON.stringify(by),
    traceparent: currentTraceparent() ?? null,
  };
}

/** Open rows of these shards, oldest first. */
export async function openMailboxRows(
  query: (text: string, values: readonly unknown[]) => Promise<MailboxRow[]>,
  shards: readonly number[],
  limit: number,
): Promise<MailboxRow[]> {
  return await query(
    `SELECT ${COLUMNS} FROM mailbox WHERE shard = ANY($1) AND result IS NULL ORDER BY seq LIMIT ${limit}`,
    [shards],
  );
}
