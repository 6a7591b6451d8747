import { derivedId } from '@lineclear/contracts';
import { planClearing, worstCaseTokens } from '@lineclear/context';
import type { Draft } from './draft.js';
import { budgetReason, finish } from './ending.js';
import { type Reservation, shortFor, worstCase } from './ledger.js';
import type { RunState } from './state.js';

/** Asks the model once more: clears old results when it is due, reserves the worst case, and starts the call; or ends the run. */
export function nextStep(draft: Draft): void {
  const clearing = planClearing(draft.run.window, draft.run.definition.context);
  if (clearing !== undefined) draft.emit('context.cleared', { ...clearing, turns: [...clearing.turns] });
  const { run } = draft;
  const reservation = reservationFor(run);
  const short = shortFor(run.ledger, reservation);
  if (short !== undefined) return finish(draft, { target: 'budget_stop', reason: budgetReason(run, short) });
  const step = run.ledger.steps.spent + 1;
  const attempt = run.lostAttempts + 1;
  const jobId = derivedId('model-call', run.runId, step, attempt);
  draft.note({ name: 'model-call-reserved', jobId, step, attempt, reservation });
}

/** Worst case of the next model call with the window as it is. */
export function reservationFor({ window, fixedTokens, definition, price }: RunState): Reservation {
  return worstCase(worstCaseTokens(fixedTokens + window.tokens), definition.maxOutputTokens, price);
}
