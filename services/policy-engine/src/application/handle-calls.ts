import { setImmediate as nextTurn } from 'node:timers/promises';
import type { LaneBatch, LaneInput } from '@lineclear/messaging';
import type { SigningKeys } from '../adapters/keys/signing-keys.js';
import { type KnownFacts, readGrants, readReferrals } from '../adapters/postgres/batch-facts.js';
import type { ActivePolicies } from './active-policies.js';
import { type CallInput, decisionIdFor, isGrant, isProposal, referralIdFor } from './call-input.js';
import { type CallContext, settleCall } from './settle-call.js';
import { writeDecision } from './write-decision.js';

/** Longest stretch of evaluation before other work of the process gets its turn, in milliseconds. */
const TURN_MS = 8;

export interface CallDesk {
  readonly policies: ActivePolicies;
  readonly keys: SigningKeys;
  readonly facts: KnownFacts;
}

/**
 * Decides every proposal and grant of a batch: at most one read, evaluation and signatures in this thread. A decision that was made before is not made
 * again; an input that fails is taken out alone.
 */
export async function handleCalls(inputs: readonly LaneInput[], batch: LaneBatch, desk: CallDesk): Promise<void> {
  const calls = inputs.filter((input): input is CallInput => isProposal(input) || isGrant(input));
  const context = await readContext(calls, batch, desk);
  const decided = new Set(context.facts.decided);
  let turnEnds = performance.now() + TURN_MS;
  for (const input of calls) {
    const id = decisionIdFor(input);
    const isDecided = decided.has(id);
    decided.add(id);
    batch.attempt(input, (writes) => {
      if (!isDecided) writeDecision(writes, input, settleCall(input, context), batch.now);
    });
    if (performance.now() < turnEnds) continue;
    await nextTurn();
    turnEnds = performance.now() + TURN_MS;
  }
}

async function readContext(calls: readonly CallInput[], batch: LaneBatch, desk: CallDesk): Promise<CallContext> {
  const { read, now } = batch;
  const proposals = calls.filter(isProposal).map(({ event }) => event.data);
  const referrals = await readReferrals(read, calls.filter(isGrant).map(referralIdFor));
  const grants = await readGrants(
    read,
    proposals.flatMap(({ approvalId }) => approvalId ?? []),
  );
  const tools = new Set(
    [...proposals, ...[...referrals.values()].map(({ proposal }) => proposal)].map(({ tool }) => tool),
  );
  const facts = await desk.facts.read(batch, calls.map(decisionIdFor), [...tools]);
  const policies = await desk.policies.at(facts.setVersion, read);
  return { facts, referrals, grants, policies, keys: desk.keys, nowMs: now.getTime() };
}
