import type { Price, Usage } from '@lineclear/contracts';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  costMicrosOf,
  freeOf,
  type Ledger,
  openLedger,
  reserveCall,
  reserveModelCall,
  settleCall,
  settleModelCall,
  shortFor,
  tokensOf,
  usageOf,
  worstCase,
} from './ledger.js';

const amount = fc.oneof(fc.nat({ max: 5000 }), fc.maxSafeNat());
const price: fc.Arbitrary<Price> = fc.record({ input: amount, cacheRead: amount, cacheWrite: amount, output: amount });
const usage: fc.Arbitrary<Usage> = fc.record({
  uncached: amount,
  cacheRead: amount,
  cacheWrite: amount,
  output: amount,
  reasoning: amount,
  estimated: fc.boolean(),
});
const budgets = fc.record({
  steps: fc.nat({ max: 9 }),
  tokens: amount,
  costMicros: amount,
  toolCalls: fc.nat({ max: 9 }),
  activeMs: amount,
  wallMs: amount,
});

const holds = (ledger: Ledger): boolean =>
  Object.values(ledger).every(
    ({ limit, spent, reserved }) =>
      [limit, spent, reserved].every(Number.isSafeInteger) && spent >= 0 && reserved >= 0 && spent + reserved <= limit,
  );

describe('ledger', () => {
  it('I5: spent + reserved never exceeds a limit and nothing is negative, whatever is billed', () => {
    const moves = fc.array(
      fc.record({
        input: fc.nat({ max: 3000 }),
        output: fc.nat({ max: 500 }),
        usage,
        replied: fc.boolean(),
        calls: fc.nat({ max: 5 }),
        executed: fc.boolean(),
      }),
    );
    fc.assert(
      fc.property(budgets, price, moves, (limits, prices, all) => {
        let ledger = openLedger(limits);
        for (const move of all) {
          const need = worstCase(move.input, move.output, prices);
          if (shortFor(ledger, need) !== undefined) continue;
          ledger = reserveModelCall(ledger, need);
          expect(holds(ledger)).toBe(true);
          const spent = {
            steps: move.replied ? 1 : 0,
            tokens: tokensOf(move.usage),
            costMicros: costMicrosOf(move.usage, prices),
          } as const;
          ledger = settleModelCall(ledger, need, spent);
          const calls = Math.min(move.calls, freeOf(ledger.toolCalls));
          for (let i = 0; i < calls; i++) ledger = reserveCall(ledger);
          expect(holds(ledger)).toBe(true);
          for (let i = 0; i < calls; i++) ledger = settleCall(ledger, move.executed);
          expect(holds(ledger)).toBe(true);
        }
      }),
    );
  });

  it('B15: cost is whole micro-units, never negative, never falls when more is used, and caches are priced apart', () => {
    fc.assert(
      fc.property(usage, price, fc.nat({ max: 1000 }), (used, prices, more) => {
        const cost = costMicrosOf(used, prices);
        expect(Number.isSafeInteger(cost) && cost >= 0).toBe(true);
        const next = { ...used, output: Math.min(used.output + more, Number.MAX_SAFE_INTEGER) };
        expect(costMicrosOf(next, prices)).toBeGreaterThanOrEqual(cost);
      }),
    );
    const prices = { input: 1_000_000, cacheRead: 100_000, cacheWrite: 1_250_000, output: 4_000_000 };
    expect(
      costMicrosOf(
        { uncached: 86, cacheRead: 17_817, cacheWrite: 0, output: 0, reasoning: 0, estimated: false },
        prices,
      ),
    ).toBe(1868);
  });

  it('a call within its worst case never costs more than was reserved', () => {
    fc.assert(
      fc.property(
        fc.nat({ max: 100_000 }),
        fc.nat({ max: 10_000 }),
        fc.nat({ max: 100 }),
        price,
        (input, output, cached, prices) => {
          const need = worstCase(input, output, prices);
          const part = Math.floor((input * cached) / 100);
          const used: Usage = {
            ...usageOf(input - part, output),
            cacheRead: Math.floor(part / 2),
            cacheWrite: part - Math.floor(part / 2),
          };
          expect(tokensOf(used)).toBeLessThanOrEqual(need.tokens);
          expect(costMicrosOf(used, prices)).toBeLessThanOrEqual(need.costMicros);
        },
      ),
    );
  });
});
