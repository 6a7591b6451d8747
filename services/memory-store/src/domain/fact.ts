import type { Label } from '@lineclear/contracts';

/** CAUTION: persisted. semantic: what is so; episodic: what happened; procedural: how something is done. */
export const FACT_KINDS = ['semantic', 'episodic', 'procedural'] as const;
export type FactKind = (typeof FACT_KINDS)[number];

/** Whose memory a fact is. INVARIANT: both are present in every read and write; there is no fact of nobody. */
export interface Owner {
  readonly tenant: string;
  readonly subject: string;
}

/** Something remembered about a subject. */
export interface Fact extends Owner {
  /** derived from owner, topic and text: the same fact has the same id */
  readonly id: string;
  /**
   * What the fact settles, such as `home city`. Of the facts on one topic only the winner is current. null: a note on its own, which nothing
   * supersedes.
   */
  readonly topic: string | null;
  readonly kind: FactKind;
  readonly text: string;
  /** where it comes from: a run, a document, a person */
  readonly source: string;
  /** when it became true, not when it arrived */
  readonly eventTime: Date;
  /** said by the subject or an entitled person; else inferred */
  readonly stated: boolean;
  readonly label: Label;
  /** id of the fact that won, null while this one is current */
  readonly supersededBy: string | null;
}
