import { Controller } from '@nestjs/common';
import { derivedId, sha256Hex } from '@lineclear/contracts';
import { type EventInput, Handles, type LaneBatch, type LaneInput, type WriteSet } from '@lineclear/messaging';
import { ArrivalClock } from '../../domain/arrival-clock.js';
import { type AuditFact, auditFactOf } from '../../domain/audit-fact.js';
import { EVENT_TABLE, rowOf } from '../postgres/event-table.js';

/** CAUTION: name of a mailbox command, persisted. */
export const RECORD_AUDIT = 'record-audit';

/** Facts of one tenant, on their way to the shard that owns its chain. */
export interface AuditDelivery {
  readonly entries: readonly AuditDeliveryEntry[];
}

export interface AuditDeliveryEntry {
  readonly source: string;
  readonly id: string;
  readonly subject: string;
  readonly fact: AuditFact;
}

/**
 * Archives every event once, and sends what is to be audited to the shard of its tenant, all facts of a tenant in one command per batch. It sees
 * every event of the platform: nothing is read, and `data` is stored as it came.
 */
@Controller()
export class ArchiveConsumer {
  private readonly clock = new ArrivalClock();

  @Handles({ anyEvent: true }, { batch: true })
  async handleEvents(inputs: readonly LaneInput[], batch: LaneBatch): Promise<void> {
    const deliveries = deliveriesOf(inputs);
    for (const input of inputs)
      batch.attempt(input, (writes) => {
        if (input.kind !== 'event') return;
        writes.insertOnce(EVENT_TABLE, rowOf(input, this.clock.next(batch.now)));
        const delivery = deliveries.get(input.event.tenant);
        if (delivery?.last === input) deliver(writes, input.event.tenant, delivery.entries);
      });
  }
}

/** Facts per tenant, to be sent with the last input that has one. */
function deliveriesOf(inputs: readonly LaneInput[]): Map<string, { entries: AuditDeliveryEntry[]; last: LaneInput }> {
  const deliveries = new Map<string, { entries: AuditDeliveryEntry[]; last: LaneInput }>();
  for (const input of inputs) {
    const entry = input.kind === 'event' ? entryOf(input) : undefined;
    if (input.kind !== 'event' || entry === undefined) continue;
    const delivery = deliveries.get(input.event.tenant);
    if (delivery === undefined) deliveries.set(input.event.tenant, { entries: [entry], last: input });
    else {
      delivery.entries.push(entry);
      delivery.last = input;
    }
  }
  return deliveries;
}

function entryOf({ name, event, text }: EventInput): AuditDeliveryEntry | undefined {
  const fact = auditFactOf(name, event.data);
  if (fact === undefined) return undefined;
  const { source, id, subject, time } = event;
  const dataHash = sha256Hex(text ?? JSON.stringify(event.data));
  return { source, id, subject, fact: { event: name, at: time, eventId: id, dataHash, ...fact } };
}

function deliver(writes: WriteSet, tenant: string, entries: readonly AuditDeliveryEntry[]): void {
  const payload: AuditDelivery = { entries };
  writes.send({
    id: derivedId(RECORD_AUDIT, tenant, ...entries.map(({ source, id }) => `${source}/${id}`)),
    name: RECORD_AUDIT,
    key: tenant,
    tenant,
    payload,
    by: null,
  });
}
