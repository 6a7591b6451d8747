import type { Label } from '@lineclear/contracts';
import type { Fact, FactKind } from '../../domain/fact.js';

/** A row of `fact` as pg reads it. */
export interface FactRow {
  readonly tenant: string;
  readonly subject: string;
  readonly id: string;
  readonly topic: string | null;
  readonly kind: FactKind;
  readonly text: string;
  readonly source: string;
  readonly event_time: Date;
  readonly stated: boolean;
  readonly confidentiality: Label['confidentiality'];
  readonly integrity: Label['integrity'];
  readonly superseded_by: string | null;
}

export const FACT_COLUMNS =
  'tenant, subject, id, topic, kind, text, source, event_time, stated, confidentiality, integrity, superseded_by';

export function factOf(row: FactRow): Fact {
  const { event_time, superseded_by, confidentiality, integrity, ...same } = row;
  return { ...same, eventTime: event_time, supersededBy: superseded_by, label: { confidentiality, integrity } };
}
