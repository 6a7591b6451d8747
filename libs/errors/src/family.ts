import { AppError, type AppErrorOptions } from './app-error.js';
import type { ErrorCode } from './codes.js';

/** Input that can never be accepted: unknown version, bad schema, too large. Parked at once, HTTP 400. */
export class InvalidMessageError extends AppError {
  readonly disposition = 'terminal';
}

/** A rule of the domain would be broken, such as a grant of a decided approval. */
export class InvariantViolationError extends AppError {
  readonly disposition = 'terminal';
}

/** The thing is unknown, or belongs to another tenant (both look the same outside). */
export class NotFoundError extends AppError {
  readonly disposition = 'terminal';

  constructor(message: string, options: AppErrorOptions = {}) {
    super('not-found', message, options);
  }
}

/** Somebody else was first. `version-moved` and `fenced` are worth repeating at once after a reload, the rest is final. */
export class ConflictError extends AppError {
  get disposition() {
    return this.code === 'version-moved' || this.code === 'fenced' ? 'retry-now' : 'terminal';
  }
}

/** Broker, database or provider trouble that passes. `retryAfterMs` is what the other side asked for, when it did. */
export class TransientError extends AppError {
  readonly disposition = 'retry';
  readonly retryAfterMs: number | undefined;

  constructor(
    code: ErrorCode,
    message: string,
    options: AppErrorOptions & { readonly retryAfterMs?: number | undefined } = {},
  ) {
    super(code, message, options);
    this.retryAfterMs = options.retryAfterMs;
  }
}

/** Shutdown or a cancelled run; passes through and is not logged as a failure. */
export class CancelledError extends AppError {
  readonly disposition = 'cancelled';

  constructor(message: string, options: AppErrorOptions = {}) {
    super('cancelled', message, options);
  }
}

/** An expected "no" where an event cannot carry it, such as an HTTP answer. */
export class RefusedError extends AppError {
  readonly disposition = 'terminal';

  constructor(message: string, options: AppErrorOptions = {}) {
    super('refused', message, options);
  }
}

/**
 * No or no valid credentials. INVARIANT: every instance reads the same outside, so that a caller cannot learn from the answer which check
 * failed; the true reason is in `cause`, for the log.
 */
export class UnauthorizedError extends AppError {
  readonly disposition = 'terminal';

  constructor(cause?: unknown) {
    super(
      'unauthorized',
      'the request needs a valid bearer token; get one from the issuer, or `lineclear token` in development',
      { cause },
    );
  }
}

/** The caller is known and lacks a role, a scope or the tenant. */
export class ForbiddenError extends AppError {
  readonly disposition = 'terminal';

  constructor(message: string, options: AppErrorOptions = {}) {
    super('forbidden', message, options);
  }
}
