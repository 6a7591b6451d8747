import { defineTable } from '../lane/table.js';

/** The tables of the migration as the lane writes them. CAUTION: must agree with messaging-tables.ts. */
export const OUTBOX_TABLE = defineTable({
  name: 'outbox',
  columns: {
    topic: 'text',
    partition: 'int',
    offset: 'bigint',
    key: 'text',
    id: 'text',
    headers: 'text',
    data: 'text',
    bucket: 'int',
  },
  key: ['topic', 'partition', 'offset'],
});

export const JOB_TABLE = defineTable({
  name: 'job',
  columns: {
    id: 'text',
    shard: 'int',
    kind: 'text',
    key: 'text',
    tenant: 'text',
    attempt: 'int',
    payload: 'text',
    traceparent: 'text',
    state: 'text',
    owner: 'text',
    dispatch_by: 'timestamptz',
    dispatch_by_ms: 'int',
    timeout_ms: 'int',
    lost: 'text',
  },
  key: ['id'],
});

export const TIMER_TABLE = defineTable({
  name: 'timer',
  columns: { key: 'text', name: 'text', shard: 'int', due_at: 'timestamptz', payload: 'text' },
  key: ['key', 'name'],
});

export const MAILBOX_TABLE = defineTable({
  name: 'mailbox',
  columns: {
    id: 'text',
    shard: 'int',
    kind: 'text',
    name: 'text',
    key: 'text',
    tenant: 'text',
    payload: 'text',
    by: 'text',
    traceparent: 'text',
  },
  key: ['id'],
});

/** The same table where a command is answered. */
export const ANSWER_TABLE = defineTable({
  name: 'mailbox',
  columns: { id: 'text', result: 'text' },
  key: ['id'],
});

export const INBOX_TABLE = defineTable({
  name: 'inbox',
  columns: { consumer: 'text', source: 'text', id: 'text', seen_at: 'timestamptz' },
  key: ['consumer', 'source', 'id'],
});

export const HELD_TABLE = defineTable({
  name: 'held',
  columns: {
    key: 'text',
    n: 'bigint',
    shard: 'int',
    held_id: 'text',
    source: 'text',
    id: 'text',
    topic: 'text',
    partition: 'int',
    offset: 'bigint',
    type: 'text',
    headers: 'text',
    data: 'text',
    state: 'text',
    attempts: 'int',
    due_at: 'timestamptz',
    code: 'text',
    failure: 'text',
    held_at: 'timestamptz',
  },
  key: ['key', 'n'],
});

export const DROP_MARK_TABLE = defineTable({
  name: 'drop_mark',
  columns: {
    source: 'text',
    id: 'text',
    shard: 'int',
    key: 'text',
    by: 'text',
    reason: 'text',
    dropped_at: 'timestamptz',
  },
  key: ['source', 'id'],
});
