import { decisionIdOf } from '@lineclear/contracts';
import type { DroppedInput, EventInput, LaneInput } from '@lineclear/messaging';

type CallEvent = 'tool-call.proposed' | 'approval.granted';
type Of<N extends CallEvent> = EventInput<N> | DroppedInput<N>;

export type ProposalInput = Of<'tool-call.proposed'>;
export type GrantInput = Of<'approval.granted'>;
/** What the policy engine decides on, or answers because an operator dropped it. */
export type CallInput = ProposalInput | GrantInput;

export function isProposal(input: LaneInput): input is ProposalInput {
  return (input.kind === 'event' || input.kind === 'dropped') && input.name === 'tool-call.proposed';
}

export function isGrant(input: LaneInput): input is GrantInput {
  return (input.kind === 'event' || input.kind === 'dropped') && input.name === 'approval.granted';
}

/** Id of the one decision that the input leads to. */
export function decisionIdFor(input: CallInput): string {
  const { callId, round } = input.event.data;
  return decisionIdOf(callId, round, isProposal(input) ? 'first' : 'approved');
}

/** Id of the decision that asked for the grant. */
export function referralIdFor({ event }: GrantInput): string {
  return decisionIdOf(event.data.callId, event.data.round, 'first');
}
