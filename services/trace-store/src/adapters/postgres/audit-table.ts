import { defineTable, type Row, type StateStore } from '@lineclear/messaging';
import type { AuditRecord, ChainHead } from '../../domain/audit-chain.js';

/** CAUTION: append-only by triggers; no code of ours may try to change a row. */
export const AUDIT_TABLE = defineTable({
  name: 'audit',
  columns: {
    tenant: 'text',
    seq: 'int',
    prev_hash: 'text',
    hash: 'text',
    subject: 'text',
    fact: 'text',
    event_source: 'text',
    event_id: 'text',
  },
  key: ['tenant', 'seq'],
});

/** Where each tenant's chain ends, so that records cut off at the end are seen. */
export const HEAD_TABLE = defineTable({
  name: 'audit_head',
  columns: { tenant: 'text', seq: 'int', hash: 'text' },
  key: ['tenant'],
});

export const CHAIN_HEADS: StateStore<ChainHead> = {
  name: 'audit-head',
  async load(keys, read) {
    const rows = await read.query<ChainHead & { tenant: string }>(
      'SELECT tenant, seq, hash FROM audit_head WHERE tenant = ANY($1)',
      [keys],
    );
    return new Map(rows.map(({ tenant, seq, hash }) => [tenant, { seq, hash }]));
  },
};

export interface AuditRow {
  readonly tenant: string;
  readonly seq: number;
  readonly prev_hash: string;
  readonly hash: string;
  readonly subject: string;
  readonly fact: string;
}

export const auditRowOf = (record: AuditRecord, event: { source: string; id: string }): Row => ({
  tenant: record.tenant,
  seq: record.seq,
  prev_hash: record.prevHash,
  hash: record.hash,
  subject: record.subject,
  fact: record.factText,
  event_source: event.source,
  event_id: event.id,
});

export const auditRecordOf = ({ tenant, seq, prev_hash, hash, subject, fact }: AuditRow): AuditRecord => ({
  tenant,
  seq,
  prevHash: prev_hash,
  hash,
  subject,
  factText: fact,
});
