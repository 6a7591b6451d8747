import { describe, expect, it } from 'vitest';
import { ERROR_CODES, type ErrorCode } from './codes.js';
import { toFailure } from './failure.js';
import { ConflictError, NotFoundError, UnauthorizedError } from './family.js';
import { fromFailure } from './from-failure.js';

describe('the error of a failure', () => {
  it.each(Object.keys(ERROR_CODES) as ErrorCode[])('keeps the code `%s`', (code) => {
    expect(fromFailure({ code, message: 'm', details: { a: 1 }, retryable: false }).code).toBe(code);
  });

  it('is the error again, without its cause', () => {
    const before = new ConflictError('already-decided', 'decided by `ann`', { details: { by: 'ann' }, cause: 'x' });
    const after = fromFailure(toFailure(before));
    expect(after).toBeInstanceOf(ConflictError);
    expect(toFailure(after)).toEqual(toFailure(before));
    expect(after.cause).toBeUndefined();
    expect(fromFailure(toFailure(new NotFoundError('no')))).toBeInstanceOf(NotFoundError);
    expect(fromFailure(toFailure(new UnauthorizedError('why')))).toBeInstanceOf(UnauthorizedError);
  });

  it.each(['later-code', 'constructor', ''])('is internal for the unknown code `%s`', (code) => {
    const error = fromFailure({ code: code as ErrorCode, message: 'm', details: {}, retryable: false });
    expect(error).toMatchObject({ code: 'internal', message: 'm' });
  });
});
