// compatible
import type { MigrationInterface, QueryRunner } from 'typeorm';

export class Approvals1764400000001 implements MigrationInterface {
  readonly name = 'Approvals1764400000001';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE approval (
        approval_id text PRIMARY KEY,
        version int NOT NULL,
        tenant text NOT NULL CHECK (tenant <> ''),
        run_id text NOT NULL,
        call_id text NOT NULL,
        tool text NOT NULL,
        requester text NOT NULL,
        status text NOT NULL,
        expires_at timestamptz NOT NULL,
        requested_at timestamptz NOT NULL,
        request text NOT NULL,
        closing text
      )`);
    await runner.query('CREATE INDEX approval_run ON approval (run_id)');
    await runner.query('CREATE INDEX approval_list ON approval (tenant, status, requested_at, approval_id)');
    await runner.query('CREATE TABLE stopped_run (run_id text PRIMARY KEY, stopped_at timestamptz NOT NULL)');
    await runner.query(`
      CREATE TABLE approval_attempt (
        attempt_id text PRIMARY KEY,
        approval_id text NOT NULL,
        tenant text NOT NULL,
        by text NOT NULL,
        code text NOT NULL,
        message text NOT NULL,
        at timestamptz NOT NULL
      )`);
    await runner.query('CREATE INDEX approval_attempt_of ON approval_attempt (approval_id, at)');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE approval, stopped_run, approval_attempt');
  }
}
