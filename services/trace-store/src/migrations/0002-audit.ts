// compatible
import type { MigrationInterface, QueryRunner } from 'typeorm';

export class Audit1764400000002 implements MigrationInterface {
  readonly name = 'Audit1764400000002';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE audit (
        tenant text NOT NULL,
        seq int NOT NULL CHECK (seq > 0),
        prev_hash text NOT NULL,
        hash text NOT NULL,
        subject text NOT NULL,
        fact text NOT NULL,
        event_source text NOT NULL,
        event_id text NOT NULL,
        PRIMARY KEY (tenant, seq)
      )`);
    await runner.query('CREATE UNIQUE INDEX audit_event ON audit (tenant, event_id, event_source)');
    await runner.query(`
      CREATE TABLE audit_head (
        tenant text PRIMARY KEY,
        seq int NOT NULL CHECK (seq > 0),
        hash text NOT NULL
      )`);
    await runner.query(`
      CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN
        RAISE EXCEPTION 'the audit is append-only: % of % is refused', TG_OP, TG_TABLE_NAME USING ERRCODE = 'insufficient_privilege';
      END $$`);
    await runner.query(`
      CREATE FUNCTION refuse_step_back() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN
        IF NEW.tenant <> OLD.tenant OR NEW.seq <= OLD.seq THEN
          RAISE EXCEPTION 'the head of the audit only moves on' USING ERRCODE = 'insufficient_privilege';
        END IF;
        RETURN NEW;
      END $$`);
    await runner.query(`
      CREATE TRIGGER audit_row BEFORE UPDATE OR DELETE ON audit FOR EACH ROW EXECUTE FUNCTION refuse_change()`);
    await runner.query(`
      CREATE TRIGGER audit_table BEFORE TRUNCATE ON audit FOR EACH STATEMENT EXECUTE FUNCTION refuse_change()`);
    await runner.query(`
      CREATE TRIGGER head_row BEFORE DELETE ON audit_head FOR EACH ROW EXECUTE FUNCTION refuse_change()`);
    await runner.query(`
      CREATE TRIGGER head_step BEFORE UPDATE ON audit_head FOR EACH ROW EXECUTE FUNCTION refuse_step_back()`);
    await runner.query(`
      CREATE TRIGGER head_table BEFORE TRUNCATE ON audit_head FOR EACH STATEMENT EXECUTE FUNCTION refuse_change()`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE audit_head');
    await runner.query('DROP TABLE audit');
    await runner.query('DROP FUNCTION refuse_change');
    await runner.query('DROP FUNCTION refuse_step_back');
  }
}
