import type { NewFact } from '../domain/remember.js';

/** A note that a run took about Ann. */
export function newFact(change: Partial<NewFact> = {}): NewFact {
  return {
    tenant: 'acme',
    subject: 'ann',
    topic: null,
    kind: 'semantic',
    text: 'prefers invoices as PDF',
    source: 'run_1',
    eventTime: new Date('2026-01-10T00:00:00.000Z'),
    stated: true,
    label: { confidentiality: 'internal', integrity: 'trusted' },
    ...change,
  };
}
