import { AppError, type Disposition, type ErrorDetails } from './app-error.js';
import type { ErrorCode } from './codes.js';

/** An error as plain JSON data: the only form in which one leaves the process or is stored. */
export interface Failure {
  readonly code: ErrorCode;
  readonly message: string;
  readonly details: ErrorDetails;
  readonly retryable: boolean;
}

/** Turns anything thrown into a Failure. Never throws; what is not an AppError becomes `internal` without a trace of its text. */
export function toFailure(error: unknown): Failure {
  const disposition = dispositionOf(error);
  const retryable = disposition !== 'terminal' && disposition !== 'cancelled';
  if (error instanceof AppError) {
    return { code: error.code, message: error.message, details: plain(error.details), retryable };
  }
  if (disposition === 'cancelled')
    return { code: 'cancelled', message: 'the work was stopped', details: {}, retryable };
  return {
    code: 'internal',
    message: 'an internal error occurred; see the log of the service',
    details: {},
    retryable,
  };
}

/** How to treat anything thrown: an abort is `cancelled`, an unknown error is a bug and `retry-few`. */
export function dispositionOf(error: unknown): Disposition {
  if (error instanceof AppError) return error.disposition;
  return error instanceof Error && error.name === 'AbortError' ? 'cancelled' : 'retry-few';
}

function plain(details: ErrorDetails): ErrorDetails {
  try {
    return JSON.parse(JSON.stringify(details)) as ErrorDetails;
  } catch {
    return { omitted: 'details could not be written as JSON' };
  }
}
