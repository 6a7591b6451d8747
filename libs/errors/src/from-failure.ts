import type { AppError } from './app-error.js';
import type { ErrorCode } from './codes.js';
import type { Failure } from './failure.js';
import {
  CancelledError,
  ConflictError,
  ForbiddenError,
  InvalidMessageError,
  InvariantViolationError,
  NotFoundError,
  RefusedError,
  TransientError,
  UnauthorizedError,
} from './family.js';

type Make = (failure: Failure) => AppError;

const conflict: Make = ({ code, message, details }) => new ConflictError(code, message, { details });
const transient: Make = ({ code, message, details }) => new TransientError(code, message, { details });
const invalid: Make = ({ code, message, details }) => new InvalidMessageError(code, message, { details });

const BY_CODE: Readonly<Record<ErrorCode, Make>> = {
  internal: transient,
  'invalid-message': invalid,
  'invalid-request': invalid,
  'unsupported-version': invalid,
  'unknown-type': invalid,
  'too-large': invalid,
  'invariant-violated': ({ code, message, details }) => new InvariantViolationError(code, message, { details }),
  'not-found': ({ message, details }) => new NotFoundError(message, { details }),
  'version-moved': conflict,
  'payload-mismatch': conflict,
  'already-decided': conflict,
  'already-ended': conflict,
  'attempt-open': conflict,
  fenced: conflict,
  unavailable: transient,
  'database-unavailable': transient,
  'broker-unavailable': transient,
  'rate-limited': transient,
  'timed-out': transient,
  overloaded: transient,
  cancelled: ({ message, details }) => new CancelledError(message, { details }),
  refused: ({ message, details }) => new RefusedError(message, { details }),
  unauthorized: () => new UnauthorizedError(),
  forbidden: ({ message, details }) => new ForbiddenError(message, { details }),
  'bad-config': invalid,
  'address-in-use': invalid,
  'folder-in-use': invalid,
  'folder-unusable': invalid,
  'database-not-started': invalid,
  'database-not-ours': invalid,
  'wrong-shard-count': invalid,
};

/**
 * The error that a Failure was made from: same code, message and details, in the class that goes with the code (faults of the configuration:
 * InvalidMessageError). A code of a later version becomes `internal`.
 */
export function fromFailure(failure: Failure): AppError {
  const code = Object.hasOwn(BY_CODE, failure.code) ? failure.code : 'internal';
  return BY_CODE[code]({ ...failure, code });
}
