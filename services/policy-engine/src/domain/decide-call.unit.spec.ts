import { approvalIdOf, callIdOf } from '@lineclear/contracts';
import { afterAll, describe, expect, it } from 'vitest';
import { ActiveSet } from '../application/active-set.js';
import { proposalOf as proposalOfRun } from '../testing/mothers.js';
import { decideCall, dropCall, type Grant, type KnownTool, type Proposal, type Question } from './decide-call.js';
import { ASSUMED_TRAITS } from './traits.js';

const NOW = Date.parse('2026-11-29T10:00:00Z');
const RUN = 'run_000000000000000000000001';
const sets: ActiveSet[] = [];
const load = (rules: string, version = 7) => {
  const set = ActiveSet.load([{ file: 'p', text: `policy: p\nversion: 1\nrules:\n${rules}` }], version);
  sets.push(set);
  return set;
};
afterAll(() => {
  for (const set of sets) set.dispose();
});

const RULES = `
  - {id: post, allow: erp.post, where: {cents: {max: 100}}}
  - {id: big, ask: erp.post, where: {cents: {min: 101, max: 900}}, approvers: [finance], fourEyes: true, expires: 1h, validFor: 10m}
  - {id: bank, deny: erp.bank, terminal: true}`;
const policies = load(RULES);
const tool: KnownTool = { definitionHash: 'h1', schema: { type: 'object' }, traits: ASSUMED_TRAITS };

const proposalOf = (args: Record<string, unknown>, change: Partial<Proposal> = {}): Proposal =>
  proposalOfRun(RUN, args, { turn: 2, index: 1, ...change });

const question = (args: Record<string, unknown>, overrides: Partial<Question> = {}): Question => ({
  tenant: 'acme',
  runId: RUN,
  proposal: proposalOf(args),
  stage: 'first',
  tool,
  grant: undefined,
  policies,
  nowMs: NOW,
  ...overrides,
});

const grantOf = (proposal: Proposal, overrides: Partial<Grant> = {}): Grant => ({
  approvalId: approvalIdOf(proposal.callId, 1),
  tenant: 'acme',
  callId: proposal.callId,
  digest: proposal.digest,
  validUntilMs: NOW + 600_000,
  isEdited: false,
  approvers: ['finance'],
  fourEyes: true,
  ...overrides,
});

const granted = (args: Record<string, unknown>, grant: Partial<Grant> = {}, overrides: Partial<Question> = {}) =>
  question(args, { stage: 'approved', grant: grantOf(proposalOf(args), grant), ...overrides });

const outcome = (asked: Question) => {
  const { answer, record } = decideCall(asked);
  return {
    answer,
    record,
    name: answer.name,
    exp: answer.name === 'tool-call.authorized' ? answer.claims.exp : undefined,
  };
};

describe('a proposal', () => {
  it('that a rule allows is authorized for a minute, bound to the call', () => {
    const asked = question({ cents: 100 });
    const { answer, record } = outcome(asked);
    expect(answer).toMatchObject({
      name: 'tool-call.authorized',
      data: { stage: 'first', round: 1, rules: ['post'], edited: false, arguments: { cents: 100 } },
      claims: {
        sub: asked.proposal.callId,
        tenant: 'acme',
        digest: asked.proposal.digest,
        definitionHash: 'h1',
        policyVersion: 7,
      },
    });
    expect(answer.name === 'tool-call.authorized' && answer.claims.exp - answer.claims.iat).toBe(60);
    expect(answer.data).not.toHaveProperty('approvalId');
    expect(record).toMatchObject({ verdict: 'allow', policyVersion: 7, digest: asked.proposal.digest });
  });

  it('that a rule asks for is referred with all that a person needs', () => {
    expect(outcome(question({ cents: 500 })).answer).toMatchObject({
      name: 'tool-call.referred',
      data: {
        arguments: { cents: 500 },
        why: 'rule `big` asks for `erp.post`: `cents` is 500 (101 to 900)',
        requester: 'ann',
        approvers: ['finance'],
        fourEyes: true,
        expiresAt: '2026-11-29T11:00:00.000Z',
        validForMs: 600_000,
        label: { integrity: 'untrusted' },
      },
    });
  });

  it('that nothing allows is denied with a reason, terminal only where the rule says so', () => {
    expect(outcome(question({ cents: 901 })).answer).toMatchObject({
      name: 'tool-call.denied',
      data: { terminal: false, rules: [], reason: expect.stringMatching(/^no rule allows `erp\.post`/) },
    });
    const bank = question({}, { proposal: proposalOf({}, { tool: 'erp.bank' }) });
    expect(outcome(bank).answer.data).toMatchObject({ terminal: true, rules: ['bank'] });
  });

  it.each<[string, Partial<Question>]>([
    ['of another run', { runId: 'run_000000000000000000000002' }],
    ['of another tenant', { tenant: 'other' }],
    ['with a digest of other arguments', { proposal: { ...proposalOf({ cents: 1 }), arguments: { cents: 2 } } }],
    ['for a tool that is not in the catalog', { tool: undefined }],
    ['for a tool whose definition changed', { tool: { ...tool, definitionHash: 'h2' } }],
  ])('%s is denied (B24)', (_, overrides) => {
    const { answer, record } = outcome(question({ cents: 1 }, overrides));
    expect(answer.name).toBe('tool-call.denied');
    expect(record.errors).toHaveLength(1);
  });
});

describe('a grant', () => {
  it('authorizes its call at stage approved, no longer than it lasts', () => {
    const { answer, record } = outcome(granted({ cents: 500 }, { validUntilMs: NOW + 20_999 }));
    expect(answer).toMatchObject({
      name: 'tool-call.authorized',
      data: { stage: 'approved', approvalId: record.approvalId, edited: false },
      claims: { stage: 'approved', exp: NOW / 1_000 + 20, approvalId: record.approvalId },
    });
  });

  it('for edited arguments is decided anew: by rule and by digest (S18)', () => {
    expect(outcome(granted({ cents: 900 }, { isEdited: true })).answer.data).toMatchObject({
      edited: true,
      arguments: { cents: 900 },
    });
    expect(outcome(granted({ cents: 901 }, { isEdited: true })).name).toBe('tool-call.denied');
    expect(outcome(granted({ cents: 900 }, { digest: 'of other arguments' })).name).toBe('tool-call.denied');
  });

  it('that has ended authorizes with an exp in the past, so that the call is referred anew', () => {
    expect(outcome(granted({ cents: 500 }, { validUntilMs: NOW - 1 })).exp).toBeLessThan(NOW / 1_000);
    const again = question({ cents: 500 }, { grant: grantOf(proposalOf({ cents: 500 }), { validUntilMs: NOW }) });
    expect(outcome(again).name).toBe('tool-call.referred');
    expect(outcome(again).record).not.toHaveProperty('approvalId');
  });

  it('is reused by a later round until its end, for the same call and digest only (B23)', () => {
    const later = (args: Record<string, unknown>, grant: Partial<Grant> = {}) =>
      question(args, {
        proposal: { ...proposalOf(args), round: 2, approvalId: approvalIdOf(callIdOf(RUN, 2, 1), 1) },
        grant: grantOf(proposalOf({ cents: 500 }), grant),
      });
    expect(outcome(later({ cents: 500 })).answer).toMatchObject({
      name: 'tool-call.authorized',
      data: { stage: 'first', round: 2, approvalId: approvalIdOf(callIdOf(RUN, 2, 1), 1) },
    });
    for (const other of [
      later({ cents: 501 }),
      later({ cents: 500, memo: '' }),
      later({ cents: 500 }, { callId: 'x' }),
      later({ cents: 500 }, { tenant: 'x' }),
    ])
      expect(outcome(other).name).toBe('tool-call.referred');
    expect(outcome({ ...later({ cents: 500 }), grant: undefined }).name).toBe('tool-call.referred');
  });

  it.each([
    ['other approvers', RULES.replace('[finance]', '[board]'), { fourEyes: true }],
    ['four eyes', RULES, { fourEyes: false }],
  ])('is void when the rules now demand %s: the call is asked for anew (S19)', (_, rules, grant) => {
    const changed = load(rules, 8);
    expect(outcome(granted({ cents: 500 }, grant, { policies: changed })).exp).toBeLessThan(NOW / 1_000);
    const proposal = { ...proposalOf({ cents: 500 }), round: 2 };
    expect(
      outcome(question({ cents: 500 }, { proposal, grant: grantOf(proposal, grant), policies: changed })).name,
    ).toBe('tool-call.referred');
  });

  it('still counts where the rules now demand less', () => {
    const eased = load(RULES.replace('[finance]', '[finance, board]').replace('fourEyes: true, ', ''), 8);
    expect(outcome(granted({ cents: 500 }, {}, { policies: eased })).exp).toBe(NOW / 1_000 + 60);
    const allowing = load('  - {id: all, allow: "*"}', 8);
    expect(outcome(granted({ cents: 500 }, {}, { policies: allowing })).exp).toBe(NOW / 1_000 + 60);
  });

  it('does not help where the rules now deny, or the definition changed (S19)', () => {
    const denying = load('  - {id: no, deny: "*"}', 8);
    expect(outcome(granted({ cents: 500 }, {}, { policies: denying })).answer).toMatchObject({
      name: 'tool-call.denied',
      data: { stage: 'approved', policyVersion: 8 },
    });
    expect(outcome(granted({ cents: 500 }, {}, { tool: { ...tool, definitionHash: 'h2' } })).name).toBe(
      'tool-call.denied',
    );
  });
});

it('answers a dropped proposal as denied', () => {
  expect(dropCall(proposalOf({ cents: 1 }), 'first', 7, 'operator: poison').answer).toMatchObject({
    name: 'tool-call.denied',
    data: { reason: 'dropped: operator: poison', terminal: false },
  });
});
