import type { Topic } from '@lineclear/contracts';
import type { DatabaseConfig } from '@lineclear/persistence';
import { SidePool } from '../../lane/side-pool.js';
import type { BusRecord } from '../bus.js';
import type { Cursor } from './cursor.js';

/** Records of one partition that are read at once. */
export const READ_LIMIT = 200;

interface SqlRecord {
  readonly partition: number;
  readonly offset: string;
  readonly key: string;
  readonly headers: string;
  readonly data: string;
}

/** Reads the outbox logs of all services of one database. */
export class LogReader {
  readonly #pool: SidePool;

  constructor(database: DatabaseConfig) {
    this.#pool = new SidePool(database, 'lineclear bus', 2);
  }

  /** What these cursors of one topic have not read, in order per partition; empty while the producer has no tables yet. @throws TransientError */
  async read(schema: string, topic: Topic, cursors: readonly Cursor[]): Promise<Map<Cursor, BusRecord[]>> {
    const byPartition = new Map(cursors.map((cursor) => [cursor.partition, cursor]));
    const rows = await this.#pool
      .query<SqlRecord>(
        `SELECT o.partition, o."offset", o.key, o.headers, o.data FROM unnest($2::int[], $3::bigint[]) AS v(partition, next)
         CROSS JOIN LATERAL (SELECT * FROM ${schema}.outbox AS o WHERE o.topic = $1 AND o.partition = v.partition AND o."offset" >= v.next
           ORDER BY o."offset" LIMIT ${READ_LIMIT}) AS o ORDER BY o.partition, o."offset"`,
        [topic, [...byPartition.keys()], cursors.map(({ next }) => String(next))],
      )
      .catch((error: unknown) => {
        if (isMissing(error)) return [];
        throw error;
      });
    const records = new Map<Cursor, BusRecord[]>(cursors.map((cursor) => [cursor, []]));
    for (const { partition, offset, key, headers, data } of rows) {
      const cursor = byPartition.get(partition);
      if (cursor === undefined) continue;
      const record = {
        topic,
        partition,
        offset: BigInt(offset),
        key,
        headers: JSON.parse(headers) as Record<string, string>,
        value: data,
      };
      records.get(cursor)?.push(record);
    }
    return records;
  }

  async end(): Promise<void> {
    await this.#pool.end();
  }
}

/** Undefined table or schema: the producer has not been started on this database yet. */
function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === '42P01' || error.code === '3F000');
}
