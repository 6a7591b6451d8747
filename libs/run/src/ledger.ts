import type { BudgetKind, Budgets, BudgetState, Price, Usage } from '@lineclear/contracts';

/** Worst case of one model call, reserved before it is sent. */
export interface Reservation {
  readonly tokens: number;
  readonly costMicros: number;
  /** the part of `tokens` that is input */
  readonly inputTokens: number;
}

/** Lines of the kinds that are counted; time is read off the clock (`active` and `startedMs` of the state). */
export type Ledger = Pick<BudgetState, 'steps' | 'tokens' | 'costMicros' | 'toolCalls'>;

type Line = BudgetState[BudgetKind];

export function openLedger(budgets: Budgets): Ledger {
  const line = (limit: number): Line => ({ limit, spent: 0, reserved: 0 });
  return {
    steps: line(budgets.steps),
    tokens: line(budgets.tokens),
    costMicros: line(budgets.costMicros),
    toolCalls: line(budgets.toolCalls),
  };
}

/** What a usage costs at these prices, in micro-units, rounded up; at most the largest safe integer. */
export function costMicrosOf(usage: Usage, price: Price | null): number {
  if (price === null) return 0;
  const micros =
    BigInt(usage.uncached) * BigInt(price.input) +
    BigInt(usage.cacheRead) * BigInt(price.cacheRead) +
    BigInt(usage.cacheWrite) * BigInt(price.cacheWrite) +
    BigInt(usage.output) * BigInt(price.output);
  const whole = (micros + 999_999n) / 1_000_000n;
  return whole > BigInt(Number.MAX_SAFE_INTEGER) ? Number.MAX_SAFE_INTEGER : Number(whole);
}

/** Tokens as billed; `reasoning` is a part of `output`. */
export function tokensOf({ uncached, cacheRead, cacheWrite, output }: Usage): number {
  return Math.min(uncached + cacheRead + cacheWrite + output, Number.MAX_SAFE_INTEGER);
}

/** Input at the dearest input price and the whole permitted output. */
export function worstCase(inputTokens: number, maxOutputTokens: number, price: Price | null): Reservation {
  const dearest = price === null ? null : { ...price, input: Math.max(price.input, price.cacheWrite, price.cacheRead) };
  return {
    inputTokens,
    tokens: inputTokens + maxOutputTokens,
    costMicros: costMicrosOf({ ...usageOf(inputTokens, maxOutputTokens), estimated: true }, dearest),
  };
}

/** Plain usage of so many input and output tokens, not from a cache. */
export function usageOf(uncached: number, output: number): Usage {
  return { uncached, cacheRead: 0, cacheWrite: 0, output, reasoning: 0, estimated: false };
}

/** The first budget that does not cover one more model call of this size, or undefined. */
export function shortFor(ledger: Ledger, need: Reservation): 'steps' | 'tokens' | 'costMicros' | undefined {
  if (freeOf(ledger.steps) < 1) return 'steps';
  if (freeOf(ledger.tokens) < need.tokens) return 'tokens';
  return freeOf(ledger.costMicros) < need.costMicros ? 'costMicros' : undefined;
}

export const freeOf = ({ limit, spent, reserved }: Line): number => limit - spent - reserved;

export function reserveModelCall(ledger: Ledger, need: Reservation): Ledger {
  return {
    ...ledger,
    steps: reserve(ledger.steps, 1),
    tokens: reserve(ledger.tokens, need.tokens),
    costMicros: reserve(ledger.costMicros, need.costMicros),
  };
}

/** `steps`: 1 when the model replied, else 0. */
export function settleModelCall(
  ledger: Ledger,
  reserved: Reservation,
  spent: { readonly steps: 0 | 1; readonly tokens: number; readonly costMicros: number },
): Ledger {
  return {
    ...ledger,
    steps: settle(ledger.steps, 1, spent.steps),
    tokens: settle(ledger.tokens, reserved.tokens, spent.tokens),
    costMicros: settle(ledger.costMicros, reserved.costMicros, spent.costMicros),
  };
}

export const reserveCall = (ledger: Ledger): Ledger => ({ ...ledger, toolCalls: reserve(ledger.toolCalls, 1) });

/** `executed`: it was sent to its tool. */
export const settleCall = (ledger: Ledger, executed: boolean): Ledger => ({
  ...ledger,
  toolCalls: settle(ledger.toolCalls, 1, executed ? 1 : 0),
});

const reserve = (line: Line, amount: number): Line => ({ ...line, reserved: line.reserved + amount });

/** INVARIANT: spent + reserved never exceeds the limit (I5), also where more was billed than reserved. */
function settle(line: Line, reserved: number, spent: number): Line {
  const left = line.reserved - reserved;
  return { limit: line.limit, reserved: left, spent: Math.min(line.spent + spent, line.limit - left) };
}
