import { Inject, Injectable } from '@nestjs/common';
import { DATA_SOURCE, type PageStart } from '@lineclear/host';
import { DataSource } from 'typeorm';
import type { JudgementError } from '../../domain/judge.js';

export interface DecisionPage {
  readonly tenant: string;
  readonly runId?: string | undefined;
  readonly limit: number;
  /** only decisions after this one in the order of the list */
  readonly after?: PageStart | undefined;
}

/** A decision as people and checkers see it. */
export interface DecisionView {
  readonly decisionId: string;
  readonly runId: string;
  readonly callId: string;
  readonly round: number;
  readonly stage: string;
  readonly tool: string;
  readonly verdict: string;
  readonly rules: readonly string[];
  readonly reason: string;
  readonly errors: readonly JudgementError[];
  readonly terminal: boolean;
  readonly policyVersion: number;
  readonly digest: string;
  readonly inputsDigest: string;
  readonly approvalId: string | null;
  readonly jti: string | null;
  readonly at: string;
}

interface Row extends Omit<DecisionView, 'errors' | 'at'> {
  readonly errors: string | null;
  readonly at: Date;
}

@Injectable()
export class Decisions {
  constructor(@Inject(DATA_SOURCE) private readonly dataSource: DataSource) {}

  /** Oldest first. */
  async list({ tenant, runId, limit, after }: DecisionPage): Promise<DecisionView[]> {
    const rows = await this.dataSource.query<Row[]>(
      `SELECT decision_id AS "decisionId", run_id AS "runId", call_id AS "callId", round, stage, tool, verdict, rules, reason, errors, terminal,
         policy_version AS "policyVersion", digest, inputs_digest AS "inputsDigest", approval_id AS "approvalId", jti, decided_at AS at
       FROM decision
       WHERE tenant = $1 AND ($2::text IS NULL OR run_id = $2)
         AND ($3::timestamptz IS NULL OR (decided_at, decision_id) > ($3, $4::text))
       ORDER BY decided_at, decision_id LIMIT $5`,
      [tenant, runId ?? null, after?.at ?? null, after?.id ?? null, limit],
    );
    return rows.map(({ errors, at, ...same }) => ({
      ...same,
      errors: errors === null ? [] : (JSON.parse(errors) as JudgementError[]),
      at: at.toISOString(),
    }));
  }
}
