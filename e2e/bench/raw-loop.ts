import { type DatabaseConfig, connectClient } from '@lineclear/persistence';

const SCHEMA = `
  DROP SCHEMA IF EXISTS raw_loop CASCADE;
  CREATE SCHEMA raw_loop;
  CREATE TABLE raw_loop.run (run_id text PRIMARY KEY, version int NOT NULL, state text NOT NULL);
  CREATE TABLE raw_loop.event (run_id text NOT NULL, version int NOT NULL, data text NOT NULL, PRIMARY KEY (run_id, version));
  CREATE TABLE raw_loop.outbox (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, key text NOT NULL, headers text NOT NULL, data text NOT NULL)`;

/** One durable step at the least: run, event and outbox row in one data-modifying statement. */
const STEP = `
  WITH moved AS (
    INSERT INTO raw_loop.run (run_id, version, state) VALUES ($1, $2, $3)
    ON CONFLICT (run_id) DO UPDATE SET version = excluded.version, state = excluded.state RETURNING 1
  ), appended AS (
    INSERT INTO raw_loop.event (run_id, version, data) VALUES ($1, $2, $4) RETURNING 1
  ), sent AS (
    INSERT INTO raw_loop.outbox (key, headers, data) VALUES ($1, $5, $4) RETURNING 1
  )
  SELECT count(*) FROM moved, appended, sent`;

export interface LoopFigures {
  readonly steps: number;
  readonly seconds: number;
}

const PAYLOAD = JSON.stringify({ text: 'x'.repeat(300) });
const HEADERS = JSON.stringify({ ce_id: 'x'.repeat(32), ce_type: 'lineclear.step.v1', ce_source: '/raw' });

/** The baseline: `runs` loops side by side, each on its own connection with a named statement, for about `seconds`. */
export async function rawLoop(config: DatabaseConfig, runs: number, seconds: number): Promise<LoopFigures> {
  const clients = await Promise.all(
    Array.from({ length: runs }, () => connectClient(config, { name: 'raw-loop', onError: () => undefined })),
  );
  try {
    await clients[0]?.query(SCHEMA);
    const started = performance.now();
    const until = started + seconds * 1000;
    const counts = await Promise.all(
      clients.map(async (client, index) => {
        let version = 0;
        while (performance.now() < until) {
          version += 1;
          await client.query({
            name: 'step',
            text: STEP,
            values: [`run_${index}`, version, PAYLOAD, PAYLOAD, HEADERS],
          });
        }
        return version;
      }),
    );
    return { steps: counts.reduce((sum, count) => sum + count, 0), seconds: (performance.now() - started) / 1000 };
  } finally {
    await Promise.all(clients.map((client) => client.end()));
  }
}
