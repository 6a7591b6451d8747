import { callDigest, callIdOf } from '@lineclear/contracts';
import type { Proposal } from '../domain/decide-call.js';

/** Ann's clerk asks for `erp.post`, the first call of its run. The id and the digest follow what is changed. */
export function proposalOf(
  runId: string,
  args: Readonly<Record<string, unknown>>,
  change: Partial<Proposal> = {},
): Proposal {
  const call = { turn: 1, index: 0, tool: 'erp.post', definitionHash: 'h1', ...change };
  const line = { limit: 1, spent: 0, reserved: 0 };
  return {
    inputs: [],
    callId: callIdOf(runId, call.turn, call.index),
    round: 1,
    stage: 'first',
    arguments: args,
    digest: callDigest({ tenant: 'acme', runId, arguments: args, ...call }),
    principal: { tenant: 'acme', subject: 'ann', roles: ['clerk'], scopes: [] },
    agent: { name: 'a', version: 1 },
    label: { confidentiality: 'internal', integrity: 'untrusted' },
    budget: { steps: line, tokens: line, costMicros: line, toolCalls: line, activeMs: line, wallMs: line },
    ...call,
    ...change,
  };
}
