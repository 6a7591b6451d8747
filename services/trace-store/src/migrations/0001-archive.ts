// compatible
import type { MigrationInterface, QueryRunner } from 'typeorm';

export class Archive1764400000001 implements MigrationInterface {
  readonly name = 'Archive1764400000001';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE event (
        subject text NOT NULL,
        source text NOT NULL,
        id text NOT NULL,
        type text NOT NULL,
        tenant text NOT NULL,
        time text NOT NULL,
        arrival bigint NOT NULL,
        correlationid text NOT NULL,
        causationid text,
        sequence text,
        traceparent text,
        confidentiality text NOT NULL,
        integrity text NOT NULL,
        data text NOT NULL,
        PRIMARY KEY (subject, source, id)
      )`);
    // Rows lie on disk in the order of their arrival, so the smallest of indexes finds the latest ones.
    await runner.query('CREATE INDEX event_arrival ON event USING brin (arrival) WITH (pages_per_range = 16)');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE event');
  }
}
