/** What a migration needs of its runner; TypeORM's QueryRunner has it. */
interface Runner {
  query(statement: string): Promise<unknown>;
}

const SHARDS = `
CREATE TABLE shard (
  shard int PRIMARY KEY, epoch bigint NOT NULL DEFAULT 0, owner text, positions jsonb NOT NULL DEFAULT '{}'
) WITH (fillfactor = 10);
INSERT INTO shard (shard) SELECT generate_series(0, 23);
CREATE TABLE owner (id text PRIMARY KEY, started_at timestamptz NOT NULL DEFAULT now(), seen_at timestamptz NOT NULL DEFAULT now());`;

const OUTBOX = `
CREATE TABLE outbox (
  topic text NOT NULL, partition int NOT NULL, "offset" bigint NOT NULL,
  key text NOT NULL, id text NOT NULL, headers text NOT NULL, data text NOT NULL, bucket int NOT NULL,
  PRIMARY KEY (topic, partition, "offset", bucket)
) PARTITION BY RANGE (bucket);
CREATE TABLE outbox_rest PARTITION OF outbox DEFAULT;
CREATE TABLE outbox_floor (topic text, partition int, next bigint NOT NULL, PRIMARY KEY (topic, partition));`;

const INPUTS = `
CREATE TABLE mailbox (
  id text PRIMARY KEY, seq bigint GENERATED ALWAYS AS IDENTITY, shard int NOT NULL, kind text NOT NULL, name text NOT NULL,
  key text NOT NULL, tenant text NOT NULL, payload text NOT NULL, by text, traceparent text,
  created_at timestamptz NOT NULL DEFAULT now(), result text, answered_at timestamptz
);
CREATE INDEX mailbox_open ON mailbox (shard, seq) WHERE result IS NULL;
CREATE TABLE inbox (
  consumer text, source text, id text, seen_at timestamptz NOT NULL DEFAULT now(), PRIMARY KEY (consumer, source, id)
);
CREATE TABLE job (
  id text PRIMARY KEY, shard int NOT NULL, kind text NOT NULL, key text NOT NULL, tenant text NOT NULL, attempt int NOT NULL,
  payload text NOT NULL, traceparent text, state text NOT NULL, owner text, dispatch_by timestamptz,
  dispatch_by_ms int NOT NULL, timeout_ms int NOT NULL, lost text NOT NULL
);
CREATE TABLE timer (
  key text, name text, shard int NOT NULL, due_at timestamptz NOT NULL, payload text NOT NULL, PRIMARY KEY (key, name)
);
CREATE INDEX timer_due ON timer (shard, due_at);`;

const HELD = `
CREATE TABLE held (
  key text, n bigint, shard int NOT NULL, held_id text NOT NULL UNIQUE, source text NOT NULL, id text NOT NULL,
  topic text NOT NULL, partition int NOT NULL, "offset" bigint NOT NULL, type text NOT NULL, headers text NOT NULL, data text,
  state text NOT NULL, attempts int NOT NULL, due_at timestamptz, code text, failure text, held_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (key, n)
);
CREATE UNIQUE INDEX held_source ON held (source, id);
CREATE INDEX held_shard ON held (shard);
CREATE TABLE drop_mark (
  source text, id text, shard int NOT NULL, key text NOT NULL, by text NOT NULL, reason text NOT NULL,
  dropped_at timestamptz NOT NULL DEFAULT now(), PRIMARY KEY (source, id)
);
CREATE INDEX drop_mark_shard ON drop_mark (shard);`;

/** Rows of these live for milliseconds: dead ones go early, or the index scans of every batch walk over them. */
const VACUUM = ['shard', 'mailbox', 'job', 'timer', 'held']
  .map(
    (table) =>
      `ALTER TABLE ${table} SET (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000, autovacuum_vacuum_cost_delay = 0);`,
  )
  .join('\n');

/** Raises from inside an expression, so that a guard that fails takes its whole statement back. */
const RAISE = `
CREATE FUNCTION lane_raise(code text, detail text) RETURNS int LANGUAGE plpgsql VOLATILE AS
$$ BEGIN RAISE EXCEPTION 'lane statement refused' USING ERRCODE = code, DETAIL = detail; END $$;`;

/**
 * The tables of messaging.md, in the service's own schema; the first of MESSAGING_MIGRATIONS.
 * CAUTION: `shard` has 24 rows for the installation's life (SHARD_COUNT); another count needs a reshard.
 */
export class MessagingTables1764400000000 {
  readonly name = 'MessagingTables1764400000000';

  async up(runner: Runner): Promise<void> {
    for (const part of [SHARDS, OUTBOX, INPUTS, HELD, VACUUM, RAISE]) await runner.query(part);
  }

  async down(runner: Runner): Promise<void> {
    await runner.query('DROP FUNCTION lane_raise');
    await runner.query('DROP TABLE drop_mark, held, timer, job, inbox, mailbox, outbox_floor, outbox, owner, shard');
  }
}

/** Positions travel and stay as the lane writes them; payloads of rows that live for milliseconds are not worth compressing. */
export class LeanRows1764400000010 {
  readonly name = 'LeanRows1764400000010';

  async up(runner: Runner): Promise<void> {
    await runner.query(
      `ALTER TABLE shard ALTER positions DROP DEFAULT, ALTER positions TYPE text, ALTER positions SET DEFAULT '{}'`,
    );
    for (const table of ['mailbox', 'job'])
      await runner.query(`ALTER TABLE ${table} ALTER payload SET STORAGE EXTERNAL`);
  }

  async down(runner: Runner): Promise<void> {
    await runner.query(
      `ALTER TABLE shard ALTER positions DROP DEFAULT, ALTER positions TYPE jsonb USING positions::jsonb, ALTER positions SET DEFAULT '{}'`,
    );
    for (const table of ['mailbox', 'job'])
      await runner.query(`ALTER TABLE ${table} ALTER payload SET STORAGE EXTENDED`);
  }
}

/** Every service lists these first. */
export const MESSAGING_MIGRATIONS = [MessagingTables1764400000000, LeanRows1764400000010] as const;
