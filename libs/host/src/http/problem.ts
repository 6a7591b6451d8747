import { AppError, ERROR_CODES, type ErrorCode, type ErrorDetails, toFailure } from '@lineclear/errors';

/** HTTP status of every code. INVARIANT: the only place that knows both; the domain knows codes alone. */
const STATUS: Readonly<Record<ErrorCode, number>> = {
  internal: 500,
  'invalid-message': 400,
  'invalid-request': 400,
  'unsupported-version': 400,
  'unknown-type': 400,
  'too-large': 413,
  'invariant-violated': 422,
  'not-found': 404,
  'version-moved': 409,
  'payload-mismatch': 409,
  'already-decided': 409,
  'already-ended': 409,
  'attempt-open': 409,
  fenced: 503,
  unavailable: 503,
  'database-unavailable': 503,
  'broker-unavailable': 503,
  'rate-limited': 429,
  'timed-out': 504,
  overloaded: 503,
  cancelled: 503,
  refused: 409,
  unauthorized: 401,
  forbidden: 403,
  'bad-config': 500,
  'address-in-use': 500,
  'folder-in-use': 500,
  'folder-unusable': 500,
  'database-not-started': 500,
  'database-not-ours': 500,
  'wrong-shard-count': 500,
};

const RETRY_AFTER_SECONDS = 1;

/** application/problem+json (RFC 9457) with our members: where, seen, expected, next, traceId, details. */
export interface Problem {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly detail: string;
  readonly instance: string;
  readonly code: ErrorCode;
  readonly where?: unknown;
  readonly seen?: unknown;
  readonly expected?: unknown;
  readonly next?: unknown;
  readonly details: ErrorDetails;
  readonly traceId: string;
}

export interface ProblemAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Problem;
}

/** Anything thrown as an answer. What is not an AppError is `internal` and tells nothing. `instance` is the request path without its query. */
export function problemOf(error: unknown, instance: string, traceId: string): ProblemAnswer {
  const { code, message, details } = toFailure(error);
  const status = STATUS[code];
  const { where, seen, expected, next, ...rest } = details;
  const known = Object.entries({ where, seen, expected, next }).filter(([, value]) => value !== undefined);
  return {
    status,
    headers: headersOf(error, status),
    body: {
      type: `urn:lineclear:error:${code}`,
      title: ERROR_CODES[code],
      status,
      detail: message,
      instance,
      code,
      ...Object.fromEntries(known),
      details: rest,
      traceId,
    },
  };
}

function headersOf(error: unknown, status: number): Record<string, string> {
  const headers: Record<string, string> = { 'content-type': 'application/problem+json; charset=utf-8' };
  if (status === 401) headers['www-authenticate'] = 'Bearer';
  if (status === 429 || status === 503) headers['retry-after'] = String(retryAfterSeconds(error));
  return headers;
}

function retryAfterSeconds(error: unknown): number {
  const asked = error instanceof AppError && 'retryAfterMs' in error ? error.retryAfterMs : undefined;
  return typeof asked === 'number' ? Math.max(1, Math.ceil(asked / 1000)) : RETRY_AFTER_SECONDS;
}
