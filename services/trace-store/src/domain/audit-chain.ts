import { sha256Hex } from '@lineclear/contracts';
import type { AuditFact } from './audit-fact.js';

/** Where a tenant's chain ends. */
export interface ChainHead {
  readonly seq: number;
  readonly hash: string;
}

/** CAUTION: the hash before the first record of every tenant. */
export const EMPTY_CHAIN: ChainHead = { seq: 0, hash: '0'.repeat(64) };

export interface AuditEntry {
  /** aggregate that the fact is about */
  readonly subject: string;
  readonly fact: AuditFact;
}

export interface AuditRecord {
  readonly tenant: string;
  /** from 1, without gaps */
  readonly seq: number;
  readonly prevHash: string;
  readonly hash: string;
  readonly subject: string;
  /** canonical JSON */
  readonly factText: string;
}

/**
 * CAUTION: fixed for ever, and public, so that anyone can check a chain from its records: SHA-256 of the canonical JSON of
 * {fact, prevHash, seq, subject, tenant}.
 */
function hashOf({ tenant, seq, prevHash, subject, factText }: Omit<AuditRecord, 'hash'>): string {
  const [prev, about, whose] = [prevHash, subject, tenant].map((text) => JSON.stringify(text.toWellFormed()));
  return sha256Hex(`{"fact":${factText},"prevHash":${prev},"seq":${seq},"subject":${about},"tenant":${whose}}`);
}

/** RFC 8785 JSON of a flat fact: its keys in order. A general canonical form costs ten times as much, and every decision and call passes here. */
function canonicalText(fact: AuditFact): string {
  return JSON.stringify(fact, Object.keys(fact).sort());
}

/** The next record of a tenant's chain. */
export function append(tenant: string, head: ChainHead, { subject, fact }: AuditEntry): AuditRecord {
  const body = { tenant, seq: head.seq + 1, prevHash: head.hash, subject, factText: canonicalText(fact) };
  return { ...body, hash: hashOf(body) };
}

export interface ChainVerdict {
  readonly whole: boolean;
  /** records that were checked and hold */
  readonly records: number;
  /** first record that is missing, changed or out of place; null when the chain is whole */
  readonly firstBroken: number | null;
}

/** Checks a tenant's records piece by piece, in their order. */
export class ChainCheck {
  #head = EMPTY_CHAIN;
  #broken: number | null = null;

  constructor(private readonly tenant: string) {}

  /** false: the chain is broken, more records are of no use */
  take(records: readonly AuditRecord[]): boolean {
    for (const record of records) {
      if (this.#broken !== null) break;
      const { seq, hash } = this.#head;
      const holds =
        record.tenant === this.tenant &&
        record.seq === seq + 1 &&
        record.prevHash === hash &&
        record.hash === hashOf(record);
      if (holds) this.#head = record;
      else this.#broken = seq + 1;
    }
    return this.#broken === null;
  }

  /** `head` is where the store says that the chain ends, so that records cut off at the end are seen. */
  verdict(head: ChainHead): ChainVerdict {
    const end = this.#head;
    if (this.#broken === null && (end.seq !== head.seq || end.hash !== head.hash))
      this.#broken = Math.min(end.seq, head.seq) + 1;
    return { whole: this.#broken === null, records: end.seq, firstBroken: this.#broken };
  }
}
