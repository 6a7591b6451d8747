/** One call that was tried and must not be repeated unchanged. */
export interface TriedCall {
  readonly callId: string;
  readonly turn: number;
  readonly write: boolean;
}

/** By digest of {tool, arguments}. `unknown`: outcome not known, refused until resolved, whatever happens in between. */
export interface Tried {
  readonly recent: ReadonlyMap<string, TriedCall>;
  readonly unknown: ReadonlyMap<string, string>;
}
