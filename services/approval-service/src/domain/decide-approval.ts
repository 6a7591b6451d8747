import { callDigest, type Principal } from '@lineclear/contracts';
import {
  type Failure,
  ConflictError,
  ForbiddenError,
  InvalidMessageError,
  InvariantViolationError,
  toFailure,
} from '@lineclear/errors';
import { compileArguments } from '@lineclear/run';
import { z } from 'zod';
import type { Approval, Closing } from './approval.js';

/** A person's answer. Unknown keys are refused: an approver is never named in a body. */
export const answerSchema = z
  .strictObject({
    action: z.enum(['approve', 'edit', 'deny']),
    reason: z.string().max(4000).optional(),
    arguments: z.record(z.string(), z.unknown()).optional(),
  })
  .refine(({ action, arguments: args }) => (action === 'edit') === (args !== undefined), {
    message: '`arguments` go with `edit`, and only with it',
    path: ['arguments'],
  })
  .refine(({ action, reason }) => action !== 'deny' || (reason !== undefined && reason.trim() !== ''), {
    message: 'a denial needs a reason; it goes to the model',
    path: ['reason'],
  });

export type Answer = z.infer<typeof answerSchema>;

/**
 * What a decision comes to: `closed` changes the request (a late decision closes it as expired and is refused all the same), `same` is the decision
 * that counts, given again by the same person, `refused` changes nothing.
 */
export type Outcome =
  | { readonly kind: 'closed'; readonly approval: Approval; readonly failure?: Failure }
  | { readonly kind: 'same' }
  | { readonly kind: 'refused'; readonly failure: Failure };

/** Judges one answer at the database's time. Who decides comes from the verified principal alone. */
export function decideApproval(approval: Approval, body: unknown, by: Principal, at: Date): Outcome {
  const forbidden = whyNotEntitled(approval, by);
  if (forbidden !== undefined) return refused(forbidden);
  const parsed = answerSchema.safeParse(body);
  if (!parsed.success) return refused(badAnswer(parsed.error));
  const answer = parsed.data;
  if (approval.status !== 'pending')
    return isSame(approval, answer, by) ? { kind: 'same' } : refused(alreadyClosed(approval));
  if (at >= approval.expiresAt) {
    const expired = expire(approval, at);
    return { kind: 'closed', approval: expired, failure: toFailure(alreadyClosed(expired)) };
  }
  if (answer.action === 'deny') return { kind: 'closed', approval: close(approval, 'denied', closing(answer, by, at)) };
  const problems = answer.arguments === undefined ? [] : faultsOf(approval, answer.arguments);
  if (problems.length > 0) return refused(badArguments(problems));
  return { kind: 'closed', approval: close(approval, 'granted', grant(approval, answer, by, at)) };
}

/** The time to answer is over. */
export function expire(approval: Approval, at: Date): Approval {
  const reason = `nobody answered before ${approval.expiresAt.toISOString()}`;
  return close(approval, 'expired', platformClosing('expire', reason, at));
}

/** The run is stopping, or an operator dropped the referral. */
export function withdraw(approval: Approval, reason: string, at: Date): Approval {
  return close(approval, 'withdrawn', platformClosing('withdraw', reason, at));
}

function whyNotEntitled(approval: Approval, by: Principal): ForbiddenError | undefined {
  const { approvers, fourEyes, requester } = approval;
  if (!approvers.some((role) => by.roles.includes(role)))
    return new ForbiddenError(`\`${by.subject}\` may not decide this: it needs one of the roles ${list(approvers)}`, {
      details: { expected: approvers, seen: by.roles },
    });
  if (fourEyes && by.subject === requester)
    return new ForbiddenError(`\`${by.subject}\` asked for this call, so another person has to decide it`, {
      details: { where: 'fourEyes', next: 'ask somebody else' },
    });
  return undefined;
}

function grant(approval: Approval, answer: Answer, by: Principal, at: Date): Closing {
  const args = answer.arguments ?? approval.arguments;
  return {
    ...closing(answer, by, at),
    arguments: answer.arguments ?? null,
    digest: answer.arguments === undefined ? approval.digest : callDigest({ ...approval, arguments: args }),
    validUntil: new Date(at.getTime() + approval.validForMs),
  };
}

function closing({ action, reason }: Answer, by: Principal, at: Date): Closing {
  return { action, by: by.subject, at, reason: reason ?? '', arguments: null, digest: null, validUntil: null };
}

function platformClosing(action: Closing['action'], reason: string, at: Date): Closing {
  return { action, by: null, at, reason, arguments: null, digest: null, validUntil: null };
}

/** INVARIANT: a closed request never changes again. */
function close(approval: Approval, status: Approval['status'], closed: Closing): Approval {
  if (approval.status !== 'pending')
    throw new InvariantViolationError(
      'already-decided',
      `approval \`${approval.approvalId}\` is ${approval.status} already`,
    );
  return { ...approval, status, closing: closed };
}

function isSame(approval: Approval, answer: Answer, by: Principal): boolean {
  const { closing: first } = approval;
  if (first === null || first.by !== by.subject || first.action !== answer.action) return false;
  return answer.arguments === undefined || callDigest({ ...approval, arguments: answer.arguments }) === first.digest;
}

function faultsOf(approval: Approval, args: Readonly<Record<string, unknown>>): readonly string[] {
  const compiled = compileArguments(approval.schema);
  return compiled.usable
    ? compiled.check(args).map(({ path, text }) => (path === '' ? text : `${path}: ${text}`))
    : [compiled.reason];
}

const refused = (error: unknown): Outcome => ({ kind: 'refused', failure: toFailure(error) });

const list = (names: readonly string[]): string => names.map((name) => `\`${name}\``).join(', ');

function alreadyClosed({ approvalId, status, closing: first }: Approval): ConflictError {
  const who = first?.by == null ? '' : ` by \`${first.by}\``;
  return new ConflictError(
    'already-decided',
    `approval \`${approvalId}\` is ${status}${who} already; nothing was changed`,
    {
      details: { status, by: first?.by, at: first?.at.toISOString(), reason: first?.reason },
    },
  );
}

function badAnswer(error: z.ZodError): InvalidMessageError {
  const [issue] = error.issues;
  const where = issue?.path.join('.') || 'body';
  return new InvalidMessageError(
    'invalid-request',
    `the decision is not understood: ${issue?.message ?? 'it does not match'}`,
    {
      details: {
        where,
        expected: '{action: approve|edit|deny, reason, arguments}',
        next: 'correct it; the request is still open',
      },
    },
  );
}

function badArguments(problems: readonly string[]): InvariantViolationError {
  return new InvariantViolationError(
    'invariant-violated',
    `the edited arguments are not valid: ${problems.join('; ')}`,
    {
      details: { where: 'arguments', seen: problems, next: 'correct them; the request is still open' },
    },
  );
}
