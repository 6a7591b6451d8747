import { defineTable } from '@lineclear/messaging';

/** One row per decision. INVARIANT: `version` is that of the row's first fact; the primary key stops a second decision on the same state. */
export const RUN_STREAM = defineTable({
  name: 'run_stream',
  columns: { run_id: 'text', version: 'int', facts: 'text' },
  key: ['run_id', 'version'],
});

/** The latest snapshot; facts with a later version are folded on top. */
export const RUN_SNAPSHOT = defineTable({
  name: 'run_snapshot',
  columns: { run_id: 'text', version: 'int', state: 'text' },
  key: ['run_id'],
});

/** One line per run for lists and for the stuck-run detector. */
export const RUN_SUMMARY = defineTable({
  name: 'run',
  columns: {
    run_id: 'text',
    tenant: 'text',
    task_id: 'text',
    task_source: 'text',
    agent: 'text',
    state: 'text',
    reason: 'text',
    turn: 'int',
    started_at: 'timestamptz',
    changed_at: 'timestamptz',
    finished_at: 'timestamptz',
    quiet_until: 'timestamptz',
  },
  key: ['run_id'],
});

/** Refusals already told, so that a task sent again is refused without another event. */
export const REFUSED_TASK = defineTable({
  name: 'refused_task',
  columns: { run_id: 'text', payload_hash: 'text', tenant: 'text', failure: 'text' },
  key: ['run_id', 'payload_hash'],
});
