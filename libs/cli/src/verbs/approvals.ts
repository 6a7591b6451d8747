import { readJsonObject } from '../json-file.js';
import { required, text, type Verb, word } from '../verb.js';

export const approvalVerbs: readonly Verb[] = [
  {
    name: 'approvals list',
    usage: '[--status STATUS]',
    what: 'approval requests, the pending ones unless another status is asked for',
    texts: ['status'],
    run: async (context) => {
      const { items } = await context.client.listApprovals({ status: text(context, 'status') ?? 'pending' });
      context.output.data(items, ['approvalId', 'tool', 'arguments', 'why', 'requester', 'expiresAt', 'status']);
    },
  },
  {
    name: 'approvals show',
    usage: 'APPROVAL',
    what: 'one request with its full arguments',
    run: async (context) => context.output.data([await context.client.getApproval(word(context, 0, 'APPROVAL'))]),
  },
  {
    name: 'approvals approve',
    usage: 'APPROVAL [--reason TEXT]',
    what: 'approve exactly this call',
    texts: ['reason'],
    run: async (context) => {
      const reason = text(context, 'reason');
      const decision = { action: 'approve' as const, ...(reason === undefined ? {} : { reason }) };
      context.output.data([await context.client.decide(word(context, 0, 'APPROVAL'), decision)]);
    },
  },
  {
    name: 'approvals edit',
    usage: 'APPROVAL --arguments FILE [--reason TEXT]',
    what: 'approve the call with the arguments in FILE (- for stdin) instead of its own',
    texts: ['arguments', 'reason'],
    run: async (context) => {
      const reason = text(context, 'reason');
      const args = await readJsonObject(required(context, 'arguments'));
      const decision = { action: 'edit' as const, arguments: args, ...(reason === undefined ? {} : { reason }) };
      context.output.data([await context.client.decide(word(context, 0, 'APPROVAL'), decision)]);
    },
  },
  {
    name: 'approvals deny',
    usage: 'APPROVAL --reason TEXT',
    what: 'deny the call; the reason goes to the model',
    texts: ['reason'],
    run: async (context) => {
      const decision = { action: 'deny' as const, reason: required(context, 'reason') };
      context.output.data([await context.client.decide(word(context, 0, 'APPROVAL'), decision)]);
    },
  },
];
