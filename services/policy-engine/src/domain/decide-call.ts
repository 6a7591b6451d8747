import {
  AUTHORIZATION_AUDIENCE,
  AUTHORIZATION_ISSUER,
  type AuthorizationClaims,
  authorizationIdOf,
  callDigest,
  callIdOf,
  decisionIdOf,
  type EventData,
  sha256Hex,
  type Stage,
  type ToolTraits,
} from '@lineclear/contracts';
import { whyAsked } from './explain.js';
import type { CallFacts } from './facts.js';
import type { Judgement } from './judge.js';
import type { Rule } from './rule.js';

export type Proposal = EventData<'tool-call.proposed'>;

/** Longest life of an authorization in milliseconds. */
const AUTHORIZATION_MS = 60_000;

/** A tool as the catalog has it now. */
export interface KnownTool {
  readonly definitionHash: string;
  readonly schema: Readonly<Record<string, unknown>>;
  readonly traits: ToolTraits;
}

/** An approval.granted that was accepted, with what its request demanded. */
export interface Grant {
  readonly approvalId: string;
  readonly tenant: string;
  readonly callId: string;
  readonly digest: string;
  readonly validUntilMs: number;
  readonly isEdited: boolean;
  readonly approvers: readonly string[];
  readonly fourEyes: boolean;
}

/** A policy set as decisions need it. */
export interface Policies {
  readonly version: number;
  judge(facts: CallFacts): Judgement;
  rulesOf(ids: readonly string[]): readonly Rule[];
}

export interface Question {
  readonly tenant: string;
  readonly runId: string;
  /** the call as it would run: with the approver's arguments and their digest at stage `approved` */
  readonly proposal: Proposal;
  readonly stage: Stage;
  readonly tool: KnownTool | undefined;
  /** stage `approved`: the grant that arrived; stage `first`: the one that the proposal names, when there is such a one */
  readonly grant: Grant | undefined;
  readonly policies: Policies;
  readonly nowMs: number;
}

/** One decision as it is kept; `digest` is the call's, `inputsDigest` covers everything the verdict depends on but the policies. */
export interface DecisionRecord extends Judgement {
  readonly decisionId: string;
  readonly policyVersion: number;
  readonly digest: string;
  readonly inputsDigest: string;
  readonly approvalId?: string;
}

export type Answer =
  | { readonly name: 'tool-call.denied'; readonly data: EventData<'tool-call.denied'> }
  | { readonly name: 'tool-call.referred'; readonly data: EventData<'tool-call.referred'> }
  | {
      readonly name: 'tool-call.authorized';
      /** all but the signature over `claims` */
      readonly data: Omit<EventData<'tool-call.authorized'>, 'jws'>;
      readonly claims: AuthorizationClaims;
    };

export interface CallDecision {
  readonly record: DecisionRecord;
  readonly answer: Answer;
}

/** Why the catalog does not let the call be judged now; it may be behind, so ask again before it counts. */
export function toolFault(proposal: Proposal, tool: KnownTool | undefined): string | undefined {
  if (tool === undefined) return `\`${proposal.tool}\` is not in the catalog`;
  if (tool.definitionHash === proposal.definitionHash) return undefined;
  return `the definition of \`${proposal.tool}\` is not the one that the run was given`;
}

/** The verdict on one call and what is said about it. Pure; everything that cannot be judged is denied. */
export function decideCall(question: Question): CallDecision {
  const { proposal, tool, grant, policies, nowMs } = question;
  const facts = factsOf(proposal, tool);
  const fault = identityFault(question) ?? toolFault(proposal, tool);
  const judgement: Judgement =
    fault === undefined
      ? policies.judge(facts)
      : { verdict: 'deny', rules: [], reason: fault, errors: [{ message: fault }], terminal: false };
  const record = recordOf(question, judgement, facts);
  if (judgement.verdict === 'deny') return { record, answer: denied(question, record) };
  if (question.stage === 'approved')
    return { record, answer: authorized(question, record, coveredEnd(grant, judgement, nowMs)) };
  if (judgement.verdict === 'allow') return { record, answer: authorized(question, record, undefined) };
  const isUsable = grant !== undefined && coveredEnd(grant, judgement, nowMs) > nowMs && isFor(grant, question);
  if (isUsable) return { record, answer: authorized(question, record, grant.validUntilMs) };
  return { record: withoutGrant(record), answer: referred(question, record, judgement, facts) };
}

/** What is needed of a call to answer that it was dropped. */
export type CallSubject = Pick<Proposal, 'callId' | 'turn' | 'index' | 'round' | 'tool' | 'digest' | 'label'>;

/** A proposal or grant that was dropped from `held`: denied, so that nobody waits for it. */
export function dropCall(call: CallSubject, stage: Stage, policyVersion: number, why: string): CallDecision {
  const reason = `dropped: ${why}`;
  const record: DecisionRecord = {
    decisionId: decisionIdOf(call.callId, call.round, stage),
    verdict: 'deny',
    rules: [],
    reason,
    errors: [],
    terminal: false,
    policyVersion,
    digest: call.digest,
    inputsDigest: '',
  };
  return { record, answer: denied({ proposal: call, stage }, record) };
}

function identityFault({ tenant, runId, proposal, stage, grant }: Question): string | undefined {
  const { callId, turn, index, tool, definitionHash, digest, principal } = proposal;
  if (callId !== callIdOf(runId, turn, index)) return 'the call does not belong to the run';
  if (principal.tenant !== tenant) return 'the principal belongs to another tenant';
  if (digest !== callDigest({ tenant, runId, turn, index, tool, definitionHash, arguments: proposal.arguments })) {
    return 'the digest is not that of the call';
  }
  if (stage === 'approved' && (grant === undefined || !isFor(grant, { tenant, proposal }))) {
    return 'the approval is for another call';
  }
  return undefined;
}

const isFor = (grant: Grant, { tenant, proposal }: Pick<Question, 'tenant' | 'proposal'>): boolean =>
  grant.tenant === tenant && grant.callId === proposal.callId && grant.digest === proposal.digest;

/**
 * Until when a grant stands, in milliseconds. When the rules now demand an approver whom its request did not, it counts as ended: the
 * authorization has a past exp, and the expired path refers the call anew.
 */
function coveredEnd(grant: Grant | undefined, { demand }: Judgement, nowMs: number): number {
  if (grant === undefined) return 0;
  const isCovered =
    demand === undefined ||
    ((grant.fourEyes || !demand.fourEyes) && grant.approvers.every((role) => demand.approvers.includes(role)));
  return isCovered ? grant.validUntilMs : Math.min(grant.validUntilMs, nowMs - AUTHORIZATION_MS);
}

function factsOf(proposal: Proposal, tool: KnownTool | undefined): CallFacts {
  const { roles } = proposal.principal;
  return {
    tool: proposal.tool,
    roles,
    arguments: proposal.arguments,
    traits: tool?.traits ?? {},
    label: proposal.label,
  };
}

function recordOf(
  { proposal, stage, grant, policies }: Question,
  judgement: Judgement,
  facts: CallFacts,
): DecisionRecord {
  const { digest } = proposal;
  return {
    decisionId: decisionIdOf(proposal.callId, proposal.round, stage),
    ...judgement,
    policyVersion: policies.version,
    digest,
    inputsDigest: inputsDigest(digest, facts, grant),
    ...(grant === undefined ? {} : { approvalId: grant.approvalId }),
  };
}

function withoutGrant({ approvalId: _approvalId, ...record }: DecisionRecord): DecisionRecord {
  return record;
}

function inputsDigest(digest: string, { roles, traits, label }: CallFacts, grant: Grant | undefined): string {
  return sha256Hex(JSON.stringify([digest, roles, traits, label, grant?.approvalId ?? null]));
}

function refOf({ proposal, stage }: { readonly proposal: CallSubject; readonly stage: Stage }) {
  const { callId, turn, index, round } = proposal;
  return { callId, turn, index, round, stage };
}

function denied(question: { readonly proposal: CallSubject; readonly stage: Stage }, record: DecisionRecord): Answer {
  const { decisionId, rules, reason, terminal, policyVersion } = record;
  const { tool } = question.proposal;
  return {
    name: 'tool-call.denied',
    data: { ...refOf(question), decisionId, tool, rules: [...rules], reason, terminal, policyVersion },
  };
}

function referred(question: Question, record: DecisionRecord, judgement: Judgement, facts: CallFacts): Answer {
  const { proposal, tool, policies, nowMs } = question;
  const demand = judgement.demand ?? { approvers: [], fourEyes: true, expiresMs: 0, validForMs: 1 };
  return {
    name: 'tool-call.referred',
    data: {
      ...refOf(question),
      decisionId: record.decisionId,
      tool: proposal.tool,
      arguments: proposal.arguments,
      schema: { ...tool?.schema },
      definitionHash: proposal.definitionHash,
      digest: proposal.digest,
      rules: [...record.rules],
      why: whyAsked(policies.rulesOf(record.rules), facts),
      label: proposal.label,
      requester: proposal.principal.subject,
      approvers: [...demand.approvers],
      fourEyes: demand.fourEyes,
      expiresAt: new Date(nowMs + demand.expiresMs).toISOString(),
      validForMs: demand.validForMs,
      policyVersion: record.policyVersion,
    },
  };
}

/** @param endMs end of the grant that the permit rests on; undefined: on none */
function authorized(question: Question, record: DecisionRecord, endMs: number | undefined): Answer {
  const { proposal, tenant, stage, grant, nowMs } = question;
  const { callId, round, digest, definitionHash } = proposal;
  const { decisionId, rules, policyVersion } = record;
  const approvalId = endMs === undefined ? undefined : grant?.approvalId;
  const exp = Math.floor(Math.min(nowMs + AUTHORIZATION_MS, endMs ?? Infinity) / 1_000);
  const jti = authorizationIdOf(callId, round, stage);
  const approval = approvalId === undefined ? {} : { approvalId };
  return {
    name: 'tool-call.authorized',
    data: {
      ...refOf(question),
      decisionId,
      claims: { jti, tenant, digest, exp, policyVersion },
      tool: proposal.tool,
      arguments: proposal.arguments,
      definitionHash,
      rules: [...rules],
      ...approval,
      edited: grant?.isEdited === true && isFor(grant, question),
    },
    claims: {
      iss: AUTHORIZATION_ISSUER,
      aud: AUTHORIZATION_AUDIENCE,
      jti,
      sub: callId,
      tenant,
      round,
      stage,
      digest,
      definitionHash,
      policyVersion,
      ...approval,
      iat: Math.floor(nowMs / 1_000),
      exp,
    },
  };
}
