import { Inject, Injectable } from '@nestjs/common';
import { DATA_SOURCE, type PageStart } from '@lineclear/host';
import type { ReadHandle } from '@lineclear/messaging';
import { DataSource } from 'typeorm';
import { loadRuns } from '../adapters/postgres/run-store.js';
import { type RunSummary, type RunView, runViewAt } from './run-view.js';

export interface RunFilter {
  readonly tenant: string;
  readonly state?: string | undefined;
  readonly taskId?: string | undefined;
  readonly limit: number;
  /** the runs behind this one in the order of the list */
  readonly after?: PageStart | undefined;
}

interface SummaryRow {
  readonly run_id: string;
  readonly task_id: string;
  readonly agent: string;
  readonly state: string;
  readonly reason: string | null;
  readonly turn: number;
  readonly started_at: Date;
  readonly finished_at: Date | null;
  readonly parked: boolean;
}

const SUMMARY = `
  SELECT run_id, task_id, agent, state, reason, turn, started_at, finished_at,
    EXISTS (SELECT 1 FROM held h WHERE h.key = run.run_id AND h.state = 'parked') AS parked
  FROM run`;

/** Runs as people read them. INVARIANT: every query names the tenant; another tenant's run does not exist here. */
@Injectable()
export class Runs {
  readonly read: ReadHandle = {
    query: (text, values) => this.dataSource.query(text, values ? [...values] : undefined),
  };

  constructor(@Inject(DATA_SOURCE) private readonly dataSource: DataSource) {}

  /** Newest first. */
  async list({ tenant, state, taskId, limit, after }: RunFilter): Promise<RunSummary[]> {
    const rows = await this.read.query<SummaryRow>(
      `${SUMMARY} WHERE tenant = $1 AND ($2::text IS NULL OR state = $2) AND ($3::text IS NULL OR task_id = $3)
         AND ($4::timestamptz IS NULL OR (started_at, run_id) < ($4, $5::text))
       ORDER BY started_at DESC, run_id DESC LIMIT $6`,
      [tenant, state ?? null, taskId ?? null, after?.at ?? null, after?.id ?? null, limit],
    );
    return rows.map(summaryOf);
  }

  /** undefined: not there, or another tenant's */
  async find(tenant: string, runId: string): Promise<RunView | undefined> {
    const [row] = await this.read.query<SummaryRow>(`${SUMMARY} WHERE tenant = $1 AND run_id = $2`, [tenant, runId]);
    const run = row && (await loadRuns([runId], this.read)).get(runId);
    return run && runViewAt(summaryOf(row), run.state, Date.now());
  }

  async exists(tenant: string, runId: string): Promise<boolean> {
    const rows = await this.read.query('SELECT 1 FROM run WHERE tenant = $1 AND run_id = $2', [tenant, runId]);
    return rows.length > 0;
  }
}

function summaryOf(row: SummaryRow): RunSummary {
  return {
    runId: row.run_id,
    taskId: row.task_id,
    agent: row.agent,
    state: row.state,
    reason: row.reason,
    parked: row.parked,
    turn: row.turn,
    startedAt: row.started_at.toISOString(),
    finishedAt: row.finished_at?.toISOString() ?? null,
  };
}
