import { sha256Hex } from '@lineclear/contracts';
import type { CallInput, SlotMark } from './fact.js';
import type { CallPhase, CallState } from './state.js';

/** Rank of the phase in which a call takes its next input. */
const RANK: Readonly<Record<CallPhase, number>> = {
  proposed: 0,
  referred: 1,
  granted: 2,
  authorized: 3,
  unknown: 4,
  closed: 5,
};

/** How far an input is ahead of the call's phase: 0 = due now, above = early, below = its time is over. */
export function aheadBy(input: CallInput, call: CallState): number {
  return rankOf(input) - RANK[call.phase];
}

function rankOf(input: CallInput): number {
  switch (input.name) {
    case 'tool-call.completed':
      return RANK.authorized;
    case 'tool-call.resolved':
      return RANK.unknown;
    case 'tool-call.denied':
    case 'tool-call.referred':
    case 'tool-call.authorized':
      return input.data.stage === 'first' ? RANK.proposed : RANK.granted;
    default:
      return RANK.referred;
  }
}

/** The place that an input fills, once per call (messaging.md section 4). */
export function slotOf({ name, data }: CallInput): string {
  switch (name) {
    case 'tool-call.completed':
      return `completed/${data.round}`;
    case 'tool-call.resolved':
      return 'resolved';
    case 'tool-call.denied':
    case 'tool-call.referred':
    case 'tool-call.authorized':
      return `verdict/${data.round}/${data.stage}`;
    default:
      return `approval/${data.round}`;
  }
}

export function markOf(input: CallInput): SlotMark {
  return { slot: slotOf(input), id: input.id, print: printOf(input) };
}

/** Whether a filled slot was filled by the same: equal id, or equal name and data. */
export function isSame(mark: SlotMark, input: CallInput): boolean {
  return mark.id === input.id || mark.print === printOf(input);
}

const printOf = ({ name, data }: CallInput): string => sha256Hex(`${name}\n${JSON.stringify(data)}`);
