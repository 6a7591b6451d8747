export { AppError, type AppErrorOptions, type Disposition, type ErrorDetails } from './app-error.js';
export { ERROR_CODES, type ErrorCode } from './codes.js';
export { ConfigError, type ConfigFault } from './config-error.js';
export { dispositionOf, type Failure, toFailure } from './failure.js';
export {
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
export { fromFailure } from './from-failure.js';
