// compatible
import type { MigrationInterface, QueryRunner } from 'typeorm';

export class Decisions1764400000001 implements MigrationInterface {
  readonly name = 'Decisions1764400000001';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE decision (
        decision_id text PRIMARY KEY,
        tenant text NOT NULL CHECK (tenant <> ''),
        run_id text NOT NULL,
        call_id text NOT NULL,
        round int NOT NULL,
        stage text NOT NULL,
        tool text NOT NULL,
        verdict text NOT NULL,
        rules text[] NOT NULL,
        reason text NOT NULL,
        errors text,
        terminal boolean NOT NULL,
        policy_version int NOT NULL,
        digest text NOT NULL,
        inputs_digest text NOT NULL,
        approval_id text,
        jti text,
        referral text,
        decided_at timestamptz NOT NULL
      )`);
    await runner.query('CREATE INDEX decision_run ON decision (tenant, run_id, decided_at, decision_id)');
    await runner.query('CREATE INDEX decision_time ON decision (tenant, decided_at, decision_id)');
    await runner.query(`
      CREATE TABLE approval_grant (
        approval_id text PRIMARY KEY,
        tenant text NOT NULL,
        call_id text NOT NULL,
        digest text NOT NULL,
        valid_until timestamptz NOT NULL,
        is_edited boolean NOT NULL,
        approvers text[] NOT NULL,
        four_eyes boolean NOT NULL,
        granted_by text NOT NULL
      )`);
    await runner.query(`
      CREATE TABLE catalog_tool (
        name text PRIMARY KEY,
        definition_hash text NOT NULL,
        traits text NOT NULL,
        schema text NOT NULL,
        status text NOT NULL,
        sequence bigint NOT NULL
      )`);
    await runner.query(`
      CREATE TABLE policy_set (
        name text PRIMARY KEY,
        version int NOT NULL,
        not_before_version int NOT NULL,
        hash text NOT NULL,
        files text NOT NULL,
        activated_at timestamptz NOT NULL
      )`);
    await runner.query(`
      CREATE TABLE policy_set_version (
        name text NOT NULL,
        version int NOT NULL,
        hash text NOT NULL,
        files text NOT NULL,
        reason text NOT NULL,
        activated_by text NOT NULL,
        activated_at timestamptz NOT NULL,
        PRIMARY KEY (name, version)
      )`);
  }

  async down(runner: QueryRunner): Promise<void> {
    for (const table of ['policy_set_version', 'policy_set', 'catalog_tool', 'approval_grant', 'decision'])
      await runner.query(`DROP TABLE ${table}`);
  }
}
