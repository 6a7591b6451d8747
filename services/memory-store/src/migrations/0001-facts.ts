// compatible
import type { MigrationInterface, QueryRunner } from 'typeorm';

export class Facts1764400000001 implements MigrationInterface {
  readonly name = 'Facts1764400000001';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE fact (
        tenant text NOT NULL CHECK (tenant <> ''),
        subject text NOT NULL CHECK (subject <> ''),
        id text NOT NULL,
        topic text,
        kind text NOT NULL,
        text text NOT NULL,
        source text NOT NULL,
        event_time timestamptz NOT NULL,
        stated boolean NOT NULL,
        confidentiality text NOT NULL,
        integrity text NOT NULL,
        superseded_by text,
        recorded_at timestamptz NOT NULL DEFAULT now(),
        words tsvector GENERATED ALWAYS AS (to_tsvector('english', text)) STORED,
        PRIMARY KEY (tenant, subject, id)
      )`);
    await runner.query('CREATE INDEX fact_topic ON fact (tenant, subject, topic) WHERE topic IS NOT NULL');
    await runner.query('CREATE INDEX fact_words ON fact USING gin (words) WHERE superseded_by IS NULL');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE fact');
  }
}
