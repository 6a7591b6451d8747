import { HttpException } from '@nestjs/common';
import { AppError, InvalidMessageError, NotFoundError, TransientError } from '@lineclear/errors';

export interface ForeignContext {
  readonly method: string;
  readonly path: string;
  readonly bodyLimitBytes: number;
}

/**
 * Faults that Fastify and Nest find before a controller runs, as errors of the product. Everything else passes unchanged, and is then a bug.
 */
export function fromForeignError(error: unknown, context: ForeignContext): unknown {
  if (error instanceof AppError) return error;
  const status = statusOf(error);
  if (status === undefined) return error;
  const { method, path, bodyLimitBytes } = context;
  switch (status) {
    case 404:
      return new NotFoundError(`there is no \`${method} ${path}\` here; see \`/docs\``, {
        details: { where: 'request line', seen: `${method} ${path}`, next: 'see /docs' },
      });
    case 413:
      return new InvalidMessageError('too-large', `the request body is larger than ${bodyLimitBytes} bytes`, {
        details: { where: 'body', expected: `at most ${bodyLimitBytes} bytes`, next: 'send less, or a handle' },
      });
    case 415:
      return invalid('header `content-type`', 'the body is not JSON', 'application/json');
    case 503:
      return new TransientError('unavailable', 'the service is stopping; try again in a moment', { cause: error });
    default:
      return status >= 400 && status < 500
        ? invalid(`${method} ${path}`, `the request is malformed: ${messageOf(error)}`, 'a well-formed HTTP request')
        : error;
  }
}

function invalid(where: string, message: string, expected: string): InvalidMessageError {
  return new InvalidMessageError('invalid-request', message, { details: { where, expected } });
}

function statusOf(error: unknown): number | undefined {
  if (error instanceof HttpException) return error.getStatus();
  if (error instanceof Error && 'statusCode' in error && 'code' in error && String(error.code).startsWith('FST_'))
    return Number(error.statusCode);
  return undefined;
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error)).toLowerCase();
