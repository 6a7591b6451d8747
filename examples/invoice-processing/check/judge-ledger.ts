import type { DecisionView } from '@lineclear/client';
import type { Expected } from './expected.js';
import { type LedgerLine, postingOf } from './ledger.js';

export interface LedgerVerdict {
  readonly effects: number;
  readonly postings: number;
  readonly distinctKeys: number;
  /** effects that no decision allowed: must be 0 */
  readonly withoutDecision: readonly string[];
  /** business objects with more than one effect: must be none */
  readonly twice: readonly string[];
  /** expected effects that are not there */
  readonly missing: readonly string[];
  /** effects that nobody expects */
  readonly unexpected: readonly string[];
}

const POST = 'erp.invoice_post';
const NOTIFY = 'erp.supplier_notify';

/**
 * Joins the ERP's ledger with the platform's decisions: every effect needs an earlier decision that authorized exactly that call, and no
 * business object has two effects. `expected` undefined: only these two are judged.
 */
export function judgeLedger(
  lines: readonly LedgerLine[],
  decisions: readonly DecisionView[],
  expected: Expected | undefined,
): LedgerVerdict {
  const allowed = new Map(
    decisions.filter(({ verdict }) => verdict === 'authorized').map((decision) => [decision.jti, decision]),
  );
  const withoutDecision = lines
    .filter((line) => !covers(allowed.get(line.authorizationId), line))
    .map((line) => line.callId);
  const postings = lines.filter((line) => canonical(line.tool) === POST).map(postingOf);
  const notified = lines
    .filter((line) => canonical(line.tool) === NOTIFY)
    .map((line) => (JSON.parse(line.argumentsRaw) as { supplier: string }).supplier);
  const wantedPostings = expected?.postings.map((pair) => pair.join(' ')) ?? postings;
  const wantedNotes = expected?.notifications ?? notified;
  const others = lines
    .filter((line) => ![POST, NOTIFY].includes(canonical(line.tool)))
    .map((line) => `${line.tool} ${line.callId}`);
  return {
    effects: lines.length,
    postings: postings.length,
    distinctKeys: new Set(lines.map(({ key }) => key)).size,
    withoutDecision,
    twice: repeated([...postings, ...notified]),
    missing: [
      ...wantedPostings.filter((posting) => !postings.includes(posting)),
      ...wantedNotes.filter((note) => !notified.includes(note)),
    ],
    unexpected: [
      ...postings.filter((posting) => !wantedPostings.includes(posting)),
      ...notified.filter((note) => !wantedNotes.includes(note)),
      ...others,
    ],
  };
}

/** True when the ledger holds what it should and every effect was allowed. */
export function ledgerHolds(verdict: LedgerVerdict): boolean {
  return [verdict.withoutDecision, verdict.twice, verdict.missing, verdict.unexpected].every(
    (list) => list.length === 0,
  );
}

function covers(decision: DecisionView | undefined, line: LedgerLine): boolean {
  return (
    decision !== undefined &&
    decision.callId === line.callId &&
    decision.tool === canonical(line.tool) &&
    decision.at <= line.at
  );
}

const canonical = (tool: string): string => (tool.startsWith('erp.') ? tool : `erp.${tool}`);

function repeated(values: readonly string[]): string[] {
  return values.filter((value, index) => values.indexOf(value) !== index);
}
