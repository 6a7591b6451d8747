import { Inject, Injectable } from '@nestjs/common';
import { DATA_SOURCE } from '@lineclear/host';
import { DataSource } from 'typeorm';

export interface UnknownCall {
  readonly callId: string;
  readonly runId: string;
  readonly tool: string;
  /** idempotency key that the tool was given */
  readonly key: string;
  readonly reason: string | null;
  readonly since: string;
  /** from then on it can be resolved */
  readonly resolvableFrom: string;
}

const LIMIT = 500;

interface Row {
  readonly call_id: string;
  readonly run_id: string;
  readonly tool: string;
  readonly key: string;
  readonly reason: string | null;
  readonly ended_at: Date;
  readonly quiet_at: Date | null;
}

@Injectable()
export class UnknownCalls {
  constructor(@Inject(DATA_SOURCE) private readonly dataSource: DataSource) {}

  /** Calls of the tenant whose outcome nobody knows, oldest first, at most 500. */
  async ofTenant(tenant: string): Promise<UnknownCall[]> {
    const rows: Row[] = await this.dataSource.query(
      `SELECT call_id, run_id, tool, key, reason, ended_at, quiet_at FROM effect
       WHERE tenant = $1 AND state = 'unknown' ORDER BY ended_at, key LIMIT ${LIMIT}`,
      [tenant],
    );
    return rows.map(({ call_id, run_id, tool, key, reason, ended_at, quiet_at }) => ({
      callId: call_id,
      runId: run_id,
      tool,
      key,
      reason,
      since: ended_at.toISOString(),
      resolvableFrom: (quiet_at ?? ended_at).toISOString(),
    }));
  }
}
