import type { EventData } from '@lineclear/contracts';
import type { DatabaseConfig } from '@lineclear/persistence';
import type { LaneBatch, NewEvent, StateStore, WriteSet } from '../lane/batch.js';
import type { EventInput, LaneInput } from '../lane/input.js';
import type { Handler } from '../lane/registry.js';
import { defineTable } from '../lane/table.js';
import { TestWorld, type TestWorldOptions } from './test-world.js';

/** The service that messaging's own tests run; it reads `policies` and `runs` and writes `tools`. */
export const COUNTING = 'tool-registry';

export const COUNTER_TABLE = defineTable({
  name: 'counter',
  columns: { key: 'text', total: 'int', version: 'int' },
  key: ['key'],
  version: 'version',
});

export const NOTE_TABLE = defineTable({
  name: 'note',
  columns: { id: 'text', key: 'text', body: 'text', n: 'int' },
  key: ['id'],
});

export interface Counter {
  readonly total: number;
  readonly version: number;
}

export const COUNTER_STORE: StateStore<Counter> = {
  name: 'counter',
  async load(keys, read) {
    const rows = await read.query<Counter & { key: string }>(
      'SELECT key, total, version FROM counter WHERE key = ANY($1)',
      [keys],
    );
    return new Map(rows.map(({ key, total, version }) => [key, { total, version }]));
  },
};

export class CounterTables1764400000001 {
  readonly name = 'CounterTables1764400000001';

  async up(runner: { query(text: string): Promise<unknown> }): Promise<void> {
    await runner.query(`CREATE TABLE counter (key text PRIMARY KEY, total int NOT NULL, version int NOT NULL);
      CREATE TABLE note (id text PRIMARY KEY, key text NOT NULL, body text NOT NULL UNIQUE, n int NOT NULL CHECK (n >= 0))`);
  }

  async down(runner: { query(text: string): Promise<unknown> }): Promise<void> {
    await runner.query('DROP TABLE note, counter');
  }
}

export type Counted = EventInput<'policy-set.activated'>;

/** What a test lets happen within a decision, before the counter is written. */
export type Twist = (input: LaneInput, writes: WriteSet, batch: Pick<LaneBatch, 'now' | 'state'>) => void;

/**
 * Adds `version` of each event to the counter of its key and emits the total. Not idempotent on purpose: whatever is applied twice shows.
 */
export function countingHandler(handled: LaneInput[], twist: Twist = () => undefined): Handler {
  return {
    name: 'Counting.count',
    patterns: { events: ['policy-set.activated'] },
    batch: true,
    handle: (inputs, batch) =>
      decideCounters(inputs, batch, (input, before, writes) => {
        twist(input, writes, batch);
        count(input as Counted, before, writes);
        handled.push(input);
      }),
  };
}

/** Decides each input with the counter of its key as of that moment. */
export async function decideCounters(
  inputs: readonly LaneInput[],
  batch: LaneBatch,
  decide: (input: LaneInput, before: Counter | undefined, writes: WriteSet) => void,
): Promise<void> {
  await batch.load(
    COUNTER_STORE,
    inputs.map(({ key }) => key),
  );
  for (const input of inputs)
    batch.attempt(input, (writes) => decide(input, batch.state(COUNTER_STORE, input.key), writes));
}

function count({ key, event }: Counted, before: Counter | undefined, writes: WriteSet): void {
  const total = (before?.total ?? 0) + event.data.version;
  writeCounter(writes, key, total, before);
  writes.emit(totalEvent(key, total));
}

/** The counter's new total, guarded by the version that it had. */
export function writeCounter(writes: WriteSet, key: string, total: number, before: Counter | undefined): void {
  const version = before?.version ?? 0;
  writes.put(COUNTER_TABLE, { key, total, version: version + 1 }, version);
  writes.setState(COUNTER_STORE, key, { total, version: version + 1 });
}

export function totalEvent(key: string, total: number): NewEvent<'run.fenced'> {
  return { name: 'run.fenced', key, tenant: 'acme', data: { n: total, open: [], settled: [] } };
}

/** An event that adds `n` to the counter of `key`; `hash` is free text for the test. */
export function add(key: string, n: number, hash = 'ok'): NewEvent<'policy-set.activated'> {
  const data: EventData<'policy-set.activated'> = { set: key, version: n, notBeforeVersion: 0, hash };
  return { name: 'policy-set.activated', key, tenant: 'acme', data };
}

export function stop(key: string, n: number): NewEvent<'run.stop-started'> {
  const data = { inputs: [], n, target: 'cancelled', reason: 'test', by: 'test' } as const;
  return { name: 'run.stop-started', key, tenant: 'acme', data: { ...data, inputs: [] } };
}

/** What testDatabase() of the test kit gives. */
interface Databases {
  template(name: string, prepare: (config: DatabaseConfig) => Promise<void>): Promise<string>;
  createDatabase(options: { template: string }): Promise<DatabaseConfig>;
}

/** A world with the counting service's tables, copied from a template. */
export async function openCounterWorld(
  databases: Databases,
  options: Partial<Pick<TestWorldOptions, 'wrap'>> = {},
): Promise<TestWorld> {
  const template = await databases.template('counting', async (database) => {
    const world = await TestWorld.open({ database, services: [COUNTING] });
    await world.databaseOf(COUNTING, [CounterTables1764400000001]);
    await world.close();
  });
  const database = await databases.createDatabase({ template });
  return await TestWorld.open({ ...options, database, services: [COUNTING] });
}

export async function counters(world: TestWorld): Promise<Record<string, Counter>> {
  const rows = await world.query<Counter & { key: string }>('SELECT key, total, version FROM tool_registry.counter');
  return Object.fromEntries(rows.map(({ key, total, version }) => [key, { total, version }]));
}
