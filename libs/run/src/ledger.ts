import type { BudgetState } from '@lineclear/contracts';

/** Worst case of one model call, reserved before it is sent. */
export interface Reservation {
  readonly tokens: number;
  readonly costMicros: number;
  /** the part of `tokens` that is input */
  readonly inputTokens: number;
}

/** Lines of the kinds that are counted; time is read off the clock (`budgetState`). */
export type Ledger = Pick<BudgetState, 'steps' | 'tokens' | 'costMicros' | 'toolCalls'>;
