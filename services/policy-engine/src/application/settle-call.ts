import { approvalIdOf, callDigest } from '@lineclear/contracts';
import { InvalidMessageError, InvariantViolationError, TransientError } from '@lineclear/errors';
import type { SigningKeys } from '../adapters/keys/signing-keys.js';
import type { BatchFacts, Referral } from '../adapters/postgres/batch-facts.js';
import {
  type CallDecision,
  type CallSubject,
  decideCall,
  dropCall,
  type Grant,
  type Proposal,
  type Question,
  toolFault,
} from '../domain/decide-call.js';
import type { ActiveSet } from './active-set.js';
import { type CallInput, type GrantInput, isProposal, type ProposalInput, referralIdFor } from './call-input.js';

/** How long a call may wait for the catalog to catch up with the run. */
const CATALOG_PATIENCE_MS = 2_000;

export interface CallContext {
  readonly facts: BatchFacts;
  readonly referrals: ReadonlyMap<string, Referral>;
  /** grants that proposals of later rounds name */
  readonly grants: ReadonlyMap<string, Grant>;
  readonly policies: ActiveSet;
  readonly keys: SigningKeys;
  readonly nowMs: number;
}

/** A decision with its signature, when it authorizes, and the grant to keep, when one arrived. */
export interface SettledCall {
  readonly call: CallSubject;
  readonly decision: CallDecision;
  readonly jws?: string;
  readonly grant?: Grant;
  /** what a referral must remember for the grant */
  readonly referral?: Referral;
}

/**
 * Decides one input, and signs what it authorizes.
 * @throws TransientError while the catalog does not know the call's tool; InvariantViolationError for a grant that nobody asked for
 */
export function settleCall(input: CallInput, context: CallContext): SettledCall {
  if (input.kind === 'dropped') return settleDropped(input, context);
  const asked = isProposal(input) ? askedByProposal(input, context) : askedByGrant(input, context);
  const { proposal, tool, grant } = asked;
  const fault = toolFault(proposal, tool);
  const isLate = input.redriven && context.nowMs - Date.parse(input.event.time) > CATALOG_PATIENCE_MS;
  if (fault !== undefined && !isLate) throw new TransientError('unavailable', fault);
  const decision = decideCall(asked);
  const { answer, record } = decision;
  if (answer.name === 'tool-call.authorized') {
    const jws = context.keys.sign(answer.claims);
    return { call: proposal, decision, jws, ...keptGrant(input, grant) };
  }
  const { demand } = record;
  if (answer.name === 'tool-call.denied' || demand === undefined) {
    return { call: proposal, decision, ...keptGrant(input, grant) };
  }
  return { call: proposal, decision, referral: { proposal, approvers: demand.approvers, fourEyes: demand.fourEyes } };
}

function keptGrant(input: CallInput, grant: Grant | undefined): { readonly grant?: Grant } {
  return isProposal(input) || grant === undefined ? {} : { grant };
}

function settleDropped(input: CallInput & { readonly kind: 'dropped' }, context: CallContext): SettledCall {
  const why = `${input.by}: ${input.reason}`;
  const { version } = context.policies;
  if (isProposal(input)) {
    const call = input.event.data;
    return { call, decision: dropCall(call, 'first', version, why) };
  }
  const known = context.referrals.get(referralIdFor(input))?.proposal;
  const label = known?.label ?? { confidentiality: 'internal', integrity: 'untrusted' };
  const call = { ...input.event.data, tool: known?.tool ?? '', label };
  return { call, decision: dropCall(call, 'approved', version, why) };
}

function askedByProposal({ key, event }: ProposalInput, context: CallContext): Question {
  const { data: proposal, tenant } = event;
  const { facts, grants, policies, nowMs } = context;
  const grant = proposal.approvalId === undefined ? undefined : grants.get(proposal.approvalId);
  return { tenant, runId: key, proposal, stage: 'first', tool: facts.tools.get(proposal.tool), grant, policies, nowMs };
}

function askedByGrant(input: GrantInput, context: CallContext): Question {
  const { key, event } = input;
  const { data, tenant } = event;
  const { facts, referrals, policies, nowMs } = context;
  if (data.approvalId !== approvalIdOf(data.callId, data.round)) {
    throw new InvalidMessageError(
      'invalid-message',
      `approval \`${data.approvalId}\` is not that of its call and round`,
    );
  }
  const referral = referrals.get(referralIdFor(input));
  if (referral === undefined) {
    throw new InvariantViolationError('invariant-violated', `nobody asked for the approval \`${data.approvalId}\``);
  }
  const proposal = withArguments(referral.proposal, tenant, key, data.arguments);
  const grant: Grant = {
    approvalId: data.approvalId,
    tenant,
    callId: data.callId,
    digest: data.digest,
    validUntilMs: Date.parse(data.validUntil),
    isEdited: data.arguments !== undefined,
    approvers: referral.approvers,
    fourEyes: referral.fourEyes,
  };
  return {
    tenant,
    runId: key,
    proposal,
    stage: 'approved',
    tool: facts.tools.get(proposal.tool),
    grant,
    policies,
    nowMs,
  };
}

/** The call as it was approved: the approver's arguments, when there are any, make another digest. */
function withArguments(
  proposal: Proposal,
  tenant: string,
  runId: string,
  edited: Proposal['arguments'] | undefined,
): Proposal {
  if (edited === undefined) return proposal;
  const { turn, index, tool, definitionHash } = proposal;
  const digest = callDigest({ tenant, runId, turn, index, tool, definitionHash, arguments: edited });
  return { ...proposal, arguments: edited, digest };
}
