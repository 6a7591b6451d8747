// compatible
import type { MigrationInterface, QueryRunner } from 'typeorm';

export class Runs1764400000001 implements MigrationInterface {
  readonly name = 'Runs1764400000001';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE run_stream (
        run_id text NOT NULL,
        version int NOT NULL,
        facts text NOT NULL,
        PRIMARY KEY (run_id, version)
      )`);
    await runner.query(`
      CREATE TABLE run_snapshot (
        run_id text PRIMARY KEY,
        version int NOT NULL,
        state text NOT NULL
      )`);
    await runner.query(`
      CREATE TABLE run (
        run_id text PRIMARY KEY,
        tenant text NOT NULL CHECK (tenant <> ''),
        task_id text NOT NULL,
        task_source text NOT NULL,
        agent text NOT NULL,
        state text NOT NULL,
        reason text,
        turn int NOT NULL,
        started_at timestamptz NOT NULL,
        changed_at timestamptz NOT NULL,
        finished_at timestamptz,
        quiet_until timestamptz
      ) WITH (fillfactor = 70)`);
    await runner.query('CREATE INDEX run_newest ON run (tenant, started_at DESC, run_id DESC)');
    await runner.query('CREATE INDEX run_task ON run (tenant, task_id)');
    await runner.query('CREATE INDEX run_live ON run (run_id) WHERE finished_at IS NULL');
    await runner.query(`
      CREATE TABLE refused_task (
        run_id text NOT NULL,
        payload_hash text NOT NULL,
        tenant text NOT NULL CHECK (tenant <> ''),
        failure text NOT NULL,
        PRIMARY KEY (run_id, payload_hash)
      )`);
  }

  async down(runner: QueryRunner): Promise<void> {
    for (const table of ['refused_task', 'run', 'run_snapshot', 'run_stream'])
      await runner.query(`DROP TABLE ${table}`);
  }
}
