import type { BudgetState, EventData } from '@lineclear/contracts';
import type { Ledger } from './ledger.js';
import type { RunState } from './state.js';

/** Time spent so far, in ms; `atMs` is now. */
export function clocksOf(run: RunState, atMs: number): { readonly wallMs: number; readonly activeMs: number } {
  const now = Math.max(run.nowMs, atMs);
  const { spentMs, sinceMs } = run.active;
  return { wallMs: now - run.startedMs, activeMs: spentMs + (sinceMs === undefined ? 0 : now - sinceMs) };
}

/** All six lines. INVARIANT: spent + reserved never exceeds the limit; time over its limit reads as spent in full. */
export function budgetStateOf(run: RunState, atMs: number, ledger: Ledger = run.ledger): BudgetState {
  const { wallMs, activeMs } = clocksOf(run, atMs);
  const limits = run.definition.budget;
  const timeLine = (limit: number, spent: number) => ({ limit, spent: Math.min(limit, spent), reserved: 0 });
  return {
    ...ledger,
    activeMs: timeLine(limits.activeMs, activeMs),
    wallMs: timeLine(limits.wallMs, wallMs),
  };
}

type Proposer = Pick<EventData<'tool-call.proposed'>, 'principal' | 'agent' | 'label' | 'budget'>;

/** Who proposes, and with what left: what policies may ask about besides the call itself. */
export function proposerOf(run: RunState, atMs: number, ledger: Ledger = run.ledger): Proposer {
  const { agent, version } = run.definition;
  return {
    principal: run.principal,
    agent: { name: agent, version },
    label: run.label,
    budget: budgetStateOf(run, atMs, ledger),
  };
}
