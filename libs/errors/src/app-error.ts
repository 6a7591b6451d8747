import type { ErrorCode } from './codes.js';

/**
 * What a caller does with an error: `terminal` never helps to repeat, `retry-now` repeats at once a few times, `retry` repeats with backoff and
 * full jitter, `retry-few` is a bug that is repeated a few times and then parked, `cancelled` passes through and is no failure.
 */
export type Disposition = 'terminal' | 'retry-now' | 'retry' | 'retry-few' | 'cancelled';

/** Facts beside the message; JSON values, no secrets: they may be shown to the caller. */
export type ErrorDetails = Readonly<Record<string, unknown>>;

export interface AppErrorOptions {
  readonly details?: ErrorDetails;
  /** For logs only; it never crosses a border. */
  readonly cause?: unknown;
}

/**
 * Root of every error that the product throws on purpose. The message is for people: lower case, one sentence, user input in backticks,
 * what, where, seen, expected, next step; no secrets, no class names.
 */
export abstract class AppError extends Error {
  abstract readonly disposition: Disposition;
  readonly details: ErrorDetails;

  constructor(
    readonly code: ErrorCode,
    message: string,
    options: AppErrorOptions = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = new.target.name;
    this.details = options.details ?? {};
  }
}
