import type { Topic } from '@lineclear/contracts';
import type { DatabaseConfig } from '@lineclear/persistence';
import { SidePool } from '../../lane/side-pool.js';
import type { BusRecord } from '../bus.js';
import type { Cursor } from './cursor.js';

/** Records of one partition that are read at once. */
export const READ_LIMIT = 200;
/** Stored bytes that one read takes in, about; of each partition at least one record. */
const READ_BYTES = 2 << 20;

interface SqlRecord {
  readonly partition: number;
  readonly offset: string;
  readonly key: string;
  readonly headers: string;
  readonly data: string;
  /** the read ended here by its bytes, and there is more */
  readonly isCut: boolean;
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
        `SELECT s.partition, s."offset", s.key, s.headers, s.data, s."offset" < s.last AND s.size >= $4 AS "isCut"
         FROM unnest($2::int[], $3::bigint[]) AS v(partition, next) CROSS JOIN LATERAL (
           SELECT o.*, sum(pg_column_size(o.data)) OVER (ORDER BY o."offset") AS size, max(o."offset") OVER () AS last FROM (
             SELECT * FROM ${schema}.outbox AS o WHERE o.topic = $1 AND o.partition = v.partition AND o."offset" >= v.next
             ORDER BY o."offset" LIMIT ${READ_LIMIT}) AS o) AS s
         WHERE s.size - pg_column_size(s.data) < $4 ORDER BY s.partition, s."offset"`,
        [
          topic,
          [...byPartition.keys()],
          cursors.map(({ next }) => String(next)),
          Math.ceil(READ_BYTES / cursors.length),
        ],
      )
      .catch((error: unknown) => {
        if (isMissing(error)) return [];
        throw error;
      });
    const records = new Map<Cursor, BusRecord[]>(cursors.map((cursor) => [cursor, []]));
    for (const { partition, offset, key, headers, data, isCut } of rows) {
      const cursor = byPartition.get(partition);
      if (cursor === undefined) continue;
      if (isCut) cursor.markUnread();
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
