import { Controller } from '@nestjs/common';
import { type CommandInput, Handles, type LaneBatch, type LaneInput, type ReadHandle } from '@lineclear/messaging';
import { append, type AuditRecord, EMPTY_CHAIN } from '../../domain/audit-chain.js';
import { AUDIT_TABLE, auditRowOf, CHAIN_HEADS, HEAD_TABLE } from '../postgres/audit-table.js';
import { type AuditDelivery, type AuditDeliveryEntry, RECORD_AUDIT } from './archive.consumer.js';

/** Appends facts to their tenant's chain. The same event comes again after a redelivery, in other company perhaps, and is recorded once. */
@Controller()
export class AuditConsumer {
  @Handles({ commands: [RECORD_AUDIT] }, { batch: true })
  async handleDeliveries(inputs: readonly LaneInput[], batch: LaneBatch): Promise<void> {
    const deliveries = inputs.filter((input): input is CommandInput<AuditDelivery> => input.kind === 'command');
    await batch.load(CHAIN_HEADS, [...new Set(deliveries.map((input) => input.key))]);
    const recorded = await recordedAmong(deliveries, batch.read);
    for (const input of deliveries)
      batch.attempt(input, (writes) => {
        const fresh = input.payload.entries.filter((entry) => !recorded.has(markOf(input.tenant, entry)));
        let head = batch.state(CHAIN_HEADS, input.key) ?? EMPTY_CHAIN;
        for (const entry of fresh) {
          const record = append(input.tenant, head, entry);
          writes.insert(AUDIT_TABLE, auditRowOf(record, entry));
          writes.emit({
            name: 'audit.recorded',
            key: input.tenant,
            tenant: input.tenant,
            data: eventData(record, entry),
            sequence: record.seq,
          });
          head = record;
          recorded.add(markOf(input.tenant, entry));
        }
        if (fresh.length === 0) return;
        writes.put(HEAD_TABLE, { tenant: input.tenant, seq: head.seq, hash: head.hash });
        writes.setState(CHAIN_HEADS, input.key, { seq: head.seq, hash: head.hash });
      });
  }
}

async function recordedAmong(
  deliveries: readonly CommandInput<AuditDelivery>[],
  read: ReadHandle,
): Promise<Set<string>> {
  const asked = deliveries.flatMap(({ tenant, payload }) =>
    payload.entries.map(({ source, id }) => ({ tenant, source, id })),
  );
  const rows = await read.query<{ tenant: string; source: string; id: string }>(
    `SELECT tenant, event_source AS source, event_id AS id FROM audit
     JOIN json_to_recordset($1::json) AS asked(tenant text, source text, id text) USING (tenant)
     WHERE event_id = asked.id AND event_source = asked.source`,
    [JSON.stringify(asked)],
  );
  return new Set(rows.map((row) => markOf(row.tenant, row)));
}

const markOf = (tenant: string, { source, id }: { source: string; id: string }): string =>
  JSON.stringify([tenant, source, id]);

const eventData = ({ seq, prevHash, hash, subject }: AuditRecord, { fact }: AuditDeliveryEntry) => ({
  seq,
  prevHash,
  hash,
  subject,
  fact: { ...fact },
});
