import { defineTable } from '@lineclear/messaging';

/** CAUTION: these must agree with migrations/0001-tool-registry.ts. */
export const TOOL = defineTable({
  name: 'tool',
  columns: { name: 'text', server: 'text', status: 'text', sequence: 'int', tool: 'text', updated_at: 'timestamptz' },
  key: ['name'],
});

export const SERVER = defineTable({
  name: 'server',
  columns: { name: 'text', obstacle: 'text', observed_at: 'timestamptz' },
  key: ['name'],
});

/** One row per shard of server names, rewritten with every change there: lanes of all replicas see by it that the catalogue moved. */
export const CATALOGUE_HEAD = defineTable({
  name: 'catalogue_head',
  columns: { shard: 'int', change: 'text' },
  key: ['shard'],
});

export const POLICY_FLOOR = defineTable({
  name: 'policy_floor',
  columns: {
    set_name: 'text',
    version: 'int',
    not_before_version: 'int',
    hash: 'text',
    activated_at: 'timestamptz',
  },
  key: ['set_name'],
});

export const RUN_MARK = defineTable({
  name: 'run_mark',
  columns: { run_id: 'text', tenant: 'text', stop: 'int', toolset_hash: 'text' },
  key: ['run_id'],
});

export const EFFECT = defineTable({
  name: 'effect',
  columns: {
    key: 'text',
    call_id: 'text',
    run_id: 'text',
    tenant: 'text',
    turn: 'int',
    index: 'int',
    round: 'int',
    stage: 'text',
    tool: 'text',
    definition_hash: 'text',
    digest: 'text',
    payload_hash: 'text',
    business_key: 'text',
    jti: 'text',
    policy_version: 'int',
    expires_at: 'timestamptz',
    is_granted: 'boolean',
    state: 'text',
    attempt: 'int',
    writes: 'boolean',
    is_repeatable: 'boolean',
    timeout_ms: 'int',
    quiet_at: 'timestamptz',
    unheard_until: 'timestamptz',
    is_waiting: 'boolean',
    reason: 'text',
    is_deduplicated: 'boolean',
    result: 'text',
    started_at: 'timestamptz',
    ended_at: 'timestamptz',
  },
  key: ['key'],
});

export const BUSINESS_CLAIM = defineTable({
  name: 'business_claim',
  columns: {
    tenant: 'text',
    tool: 'text',
    business_key: 'text',
    call_id: 'text',
    run_id: 'text',
    payload_hash: 'text',
    state: 'text',
    result: 'text',
  },
  key: ['tenant', 'tool', 'business_key'],
});

/** What was presented as an authorization and is none, and what would have used a key for another payload. Append-only. */
export const REFUSED_AUTHORIZATION = defineTable({
  name: 'refused_authorization',
  columns: {
    id: 'text',
    tenant: 'text',
    run_id: 'text',
    call_id: 'text',
    round: 'int',
    stage: 'text',
    tool: 'text',
    reason: 'text',
    why: 'text',
    refused_at: 'timestamptz',
  },
  key: ['id'],
});
