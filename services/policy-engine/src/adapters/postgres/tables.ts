import { defineTable } from '@lineclear/messaging';

/** One row per call, round and stage; never changed. */
export const DECISION = defineTable({
  name: 'decision',
  columns: {
    decision_id: 'text',
    tenant: 'text',
    run_id: 'text',
    call_id: 'text',
    round: 'int',
    stage: 'text',
    tool: 'text',
    verdict: 'text',
    rules: 'text[]',
    reason: 'text',
    errors: 'text',
    terminal: 'boolean',
    policy_version: 'int',
    digest: 'text',
    inputs_digest: 'text',
    approval_id: 'text',
    jti: 'text',
    referral: 'text',
    decided_at: 'timestamptz',
  },
  key: ['decision_id'],
});

/** Grants that arrived, for the rounds that reuse them. */
export const APPROVAL_GRANT = defineTable({
  name: 'approval_grant',
  columns: {
    approval_id: 'text',
    tenant: 'text',
    call_id: 'text',
    digest: 'text',
    valid_until: 'timestamptz',
    is_edited: 'boolean',
    approvers: 'text[]',
    four_eyes: 'boolean',
    granted_by: 'text',
  },
  key: ['approval_id'],
});

/** The catalog topic as a table; every lane reads it. */
export const CATALOG_TOOL = defineTable({
  name: 'catalog_tool',
  columns: {
    name: 'text',
    definition_hash: 'text',
    traits: 'text',
    schema: 'text',
    status: 'text',
    sequence: 'bigint',
  },
  key: ['name'],
});

/** The set in force; `version` is what lanes compare before each batch. */
export const POLICY_SET = defineTable({
  name: 'policy_set',
  columns: {
    name: 'text',
    version: 'int',
    not_before_version: 'int',
    hash: 'text',
    files: 'text',
    activated_at: 'timestamptz',
  },
  key: ['name'],
  version: 'version',
});

export const POLICY_SET_VERSION = defineTable({
  name: 'policy_set_version',
  columns: {
    name: 'text',
    version: 'int',
    hash: 'text',
    files: 'text',
    reason: 'text',
    activated_by: 'text',
    activated_at: 'timestamptz',
  },
  key: ['name', 'version'],
});
