import { Inject, Injectable } from '@nestjs/common';
import { DATA_SOURCE } from '@lineclear/host';
import { DataSource } from 'typeorm';
import type { Blob } from '../../domain/tool-result.js';

export interface BlobOwner {
  readonly tenant: string;
  readonly runId: string;
  readonly callId: string;
}

export interface BlobPage {
  readonly mediaType: string;
  readonly isBinary: boolean;
  readonly text: string;
  /** characters of the whole */
  readonly length: number;
}

/** Parts of results that events only point to. Written before the result is reported, so that no handle points to nothing. */
@Injectable()
export class BlobStore {
  constructor(@Inject(DATA_SOURCE) private readonly dataSource: DataSource) {}

  async keep(blobs: readonly Blob[], { tenant, runId, callId }: BlobOwner): Promise<void> {
    for (const { id, mediaType, isBinary, bytes, sha256, data } of blobs)
      await this.dataSource.query(
        `INSERT INTO blob (id, tenant, run_id, call_id, media_type, is_binary, bytes, sha256, data)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) ON CONFLICT (id) DO NOTHING`,
        [id, tenant, runId, callId, mediaType, isBinary, bytes, sha256, data],
      );
  }

  /** A part of a blob of this very run; undefined for any other. `offset` and `limit` count characters. */
  async page(
    id: string,
    owner: Omit<BlobOwner, 'callId'>,
    offset: number,
    limit: number,
  ): Promise<BlobPage | undefined> {
    const rows: { media_type: string; is_binary: boolean; text: string; length: number }[] =
      await this.dataSource.query(
        `SELECT media_type, is_binary, CASE WHEN is_binary THEN '' ELSE substr(data, $4::int + 1, $5::int) END AS text, length(data) AS length
       FROM blob WHERE id = $1 AND tenant = $2 AND run_id = $3`,
        [id, owner.tenant, owner.runId, offset, limit],
      );
    const [row] = rows;
    if (row === undefined) return undefined;
    return { mediaType: row.media_type, isBinary: row.is_binary, text: row.text, length: row.length };
  }
}
