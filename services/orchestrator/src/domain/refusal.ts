import { type ErrorCode, type Failure, toFailure } from '@lineclear/errors';

/** Why a task did not become a run: an expected no, recorded as `task.refused` and answered to the caller. Texts are ready to be shown. */
export interface Refusal {
  /** stable code, see docs/reference/errors.md */
  readonly reason: ErrorCode;
  readonly where: string;
  readonly seen: string;
  readonly expected: string;
  readonly next: string;
}

const MAX_SEEN_CHARS = 200;

/** A value as a refusal shows it: bounded, and text that every store keeps. */
export function shown(value: unknown): string {
  if (value === undefined) return 'nothing';
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  const clean = text.replaceAll('\0', '\uFFFD').toWellFormed();
  return clean.length > MAX_SEEN_CHARS ? `${clean.slice(0, MAX_SEEN_CHARS)}…` : clean;
}

/** The refusal as the failure that the caller gets. */
export function refusalFailure(refusal: Refusal, task: { readonly id: string; readonly source: string }): Failure {
  const { reason, where, seen, expected, next } = refusal;
  return {
    code: reason,
    message: `task \`${shown(task.id)}\` is refused: \`${where}\` is \`${seen}\`, expected ${expected}; ${next}`,
    details: { where, seen, expected, next, taskId: task.id, source: task.source },
    retryable: false,
  };
}

/** A fault found while the event was read, as a refusal. */
export function refusalOf(error: unknown, next: string): Refusal {
  const { code, details } = toFailure(error);
  const text = (name: string) => (typeof details[name] === 'string' ? details[name] : undefined);
  return {
    reason: code,
    where: text('where') ?? 'event',
    seen: shown(text('seen') ?? 'something unreadable'),
    expected: text('expected') ?? 'a CloudEvents 1.0 event',
    next: text('next') ?? next,
  };
}
