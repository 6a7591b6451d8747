import { approvalIdOf, callDigest } from '@lineclear/contracts';
import { InvalidMessageError, InvariantViolationError, TransientError } from '@lineclear/errors';
import type { SigningKeys } from '../adapters/keys/signing-keys.js';
import type { BatchFacts, Referral } from '../adapters/postgres/batch-facts.js';
import {
  type CallDecision,
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
  readonly proposal: Proposal;
  readonly decision: CallDecision;
  readonly jws: string | undefined;
  readonly grant: Grant | undefined;
}

/**
 * Decides one input; evaluation is done when the call returns, only the signature is waited for.
 * @throws TransientError while the catalog does not know the call's tool; InvariantViolationError for a grant that nobody asked for
 */
export async function settleCall(input: CallInput, context: CallContext): Promise<SettledCall> {
  const asked = isProposal(input) ? askedByProposal(input, context) : askedByGrant(input, context);
  const { proposal, stage, grant } = asked;
  const kept = isProposal(input) ? undefined : grant;
  if (input.kind === 'dropped') {
    const decision = dropCall({ proposal, stage }, context.policies.version, `${input.by}: ${input.reason}`);
    return { proposal, decision, jws: undefined, grant: undefined };
  }
  const fault = toolFault(proposal, asked.tool);
  const isLate = input.redriven && context.nowMs - Date.parse(input.event.time) > CATALOG_PATIENCE_MS;
  if (fault !== undefined && !isLate) throw new TransientError('unavailable', fault);
  const decision = decideCall(asked);
  const { answer } = decision;
  const jws = answer.name === 'tool-call.authorized' ? await context.keys.sign(answer.claims) : undefined;
  return { proposal, decision, jws, grant: kept };
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
