import type { Topic } from '@lineclear/contracts';
import type { Log } from '../lane/log.js';
import type { SidePool } from '../lane/side-pool.js';

const DAY_MS = 86_400_000;
const ROWS_AT_ONCE = 10_000;

export interface RetentionOptions {
  readonly pool: SidePool;
  readonly log: Log;
  /** days of the log that stay, for re-publish and archive */
  readonly logDays: number;
  /** days that dedupe memory stays; longer than the log, or what is published again would be taken for new */
  readonly dedupeDays: number;
  /** everything of that log below this offset was read by all its readers; undefined: not known, so nothing is dropped */
  readonly readTo: (topic: Topic, partition: number) => bigint | undefined;
}

interface Part {
  readonly name: string;
  readonly bucket: number;
}

interface End {
  readonly topic: Topic;
  readonly partition: number;
  readonly next: string;
}

/** Drops old days of the log, and old rows of what remembers inputs. INVARIANT: never a record that a reader has still to read. */
export class Retention {
  constructor(private readonly options: RetentionOptions) {}

  /** @returns names of the table partitions that were dropped. @throws TransientError */
  async run(nowMs: number): Promise<string[]> {
    const { logDays, dedupeDays, pool } = this.options;
    await this.#forget(dedupeDays);
    const before = Math.floor(nowMs / DAY_MS) - logDays;
    const parts = await pool.query<Part>(
      `SELECT c.relname AS name, substring(c.relname FROM '\\d+$')::int AS bucket FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
       WHERE i.inhparent = 'outbox'::regclass AND c.relname ~ '^outbox_\\d+$' ORDER BY 2`,
    );
    const dropped: string[] = [];
    for (const { name, bucket } of parts) {
      if (bucket >= before || !(await this.#drop(name))) break;
      dropped.push(name);
    }
    return dropped;
  }

  /** Heads survive the rows that they were counted by. */
  async #drop(name: string): Promise<boolean> {
    const { pool, readTo, log } = this.options;
    const ends = await pool.query<End>(
      `SELECT topic, partition, max("offset") + 1 AS next FROM ${name} GROUP BY topic, partition`,
    );
    const unread = ends.find(({ topic, partition, next }) => (readTo(topic, partition) ?? 0n) < BigInt(next));
    if (unread !== undefined) {
      log.warn({ name, ...unread }, 'a day of the log is older than it is kept, and not read yet');
      return false;
    }
    await pool.query(
      `INSERT INTO outbox_floor (topic, partition, next) SELECT topic, partition, next FROM json_to_recordset($1::json) AS v(topic text, partition int, next bigint)
       ON CONFLICT (topic, partition) DO UPDATE SET next = greatest(outbox_floor.next, EXCLUDED.next)`,
      [JSON.stringify(ends)],
    );
    await pool.query(`DROP TABLE ${name}`);
    return true;
  }

  async #forget(days: number): Promise<void> {
    const age = `now() - interval '${Math.floor(days)} days'`;
    await this.#deleteSome('mailbox', 'id', `answered_at < ${age} AND result IS NOT NULL`);
    await this.#deleteSome('inbox', 'consumer, source, id', `seen_at < ${age}`);
    await this.#deleteSome('drop_mark', 'source, id', `dropped_at < ${age}`);
    await this.#deleteSome('owner', 'id', `seen_at < now() - interval '1 day'`);
  }

  async #deleteSome(table: string, key: string, condition: string): Promise<void> {
    const text = `DELETE FROM ${table} WHERE (${key}) IN (SELECT ${key} FROM ${table} WHERE ${condition} LIMIT ${ROWS_AT_ONCE}) RETURNING 1 AS x`;
    while ((await this.options.pool.query(text)).length === ROWS_AT_ONCE);
  }
}
