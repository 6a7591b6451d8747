// compatible
import type { MigrationInterface, QueryRunner } from 'typeorm';

const CATALOGUE = `
CREATE TABLE tool (
  name text PRIMARY KEY, server text NOT NULL, status text NOT NULL, sequence int NOT NULL, tool text NOT NULL, updated_at timestamptz NOT NULL
);
CREATE INDEX tool_server ON tool (server);
CREATE TABLE server (name text PRIMARY KEY, obstacle text, observed_at timestamptz NOT NULL);
CREATE TABLE catalogue_head (shard int PRIMARY KEY, change text NOT NULL);
CREATE TABLE policy_floor (
  set_name text PRIMARY KEY, version int NOT NULL, not_before_version int NOT NULL, hash text NOT NULL, activated_at timestamptz NOT NULL
);`;

const LEDGER = `
CREATE TABLE run_mark (run_id text PRIMARY KEY, tenant text NOT NULL, stop int NOT NULL, toolset_hash text);
CREATE TABLE effect (
  key text PRIMARY KEY, call_id text NOT NULL, run_id text NOT NULL, tenant text NOT NULL, turn int NOT NULL, index int NOT NULL,
  round int NOT NULL, stage text NOT NULL, tool text NOT NULL, definition_hash text NOT NULL, digest text NOT NULL,
  payload_hash text NOT NULL, business_key text, jti text NOT NULL, policy_version int NOT NULL, expires_at timestamptz NOT NULL,
  is_granted boolean NOT NULL, state text NOT NULL, attempt int NOT NULL, writes boolean NOT NULL, is_repeatable boolean NOT NULL,
  timeout_ms int NOT NULL, quiet_at timestamptz, unheard_until timestamptz, is_waiting boolean NOT NULL, reason text,
  is_deduplicated boolean NOT NULL, result text, started_at timestamptz, ended_at timestamptz
);
CREATE INDEX effect_run ON effect (run_id, turn);
CREATE INDEX effect_unknown ON effect (tenant, ended_at) WHERE state = 'unknown';
CREATE TABLE business_claim (
  tenant text, tool text, business_key text, call_id text NOT NULL, run_id text NOT NULL, payload_hash text NOT NULL,
  state text NOT NULL, result text, PRIMARY KEY (tenant, tool, business_key)
);
CREATE TABLE refused_authorization (
  id text PRIMARY KEY, tenant text NOT NULL, run_id text NOT NULL, call_id text NOT NULL, round int NOT NULL, stage text NOT NULL,
  tool text NOT NULL, reason text NOT NULL, why text NOT NULL, refused_at timestamptz NOT NULL
);
CREATE INDEX refused_authorization_tenant ON refused_authorization (tenant, refused_at);`;

const BLOBS = `
CREATE TABLE blob (
  id text PRIMARY KEY, tenant text NOT NULL, run_id text NOT NULL, call_id text NOT NULL, media_type text NOT NULL, is_binary boolean NOT NULL,
  bytes int NOT NULL, sha256 text NOT NULL, data text NOT NULL, kept_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX blob_run ON blob (run_id);`;

export class ToolRegistry1764400000001 implements MigrationInterface {
  readonly name = 'ToolRegistry1764400000001';

  async up(runner: QueryRunner): Promise<void> {
    for (const part of [CATALOGUE, LEDGER, BLOBS]) await runner.query(part);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(
      'DROP TABLE blob, refused_authorization, business_claim, effect, run_mark, policy_floor, catalogue_head, server, tool',
    );
  }
}
