import { describe, expect, it } from 'vitest';
import { ConfigError } from './config-error.js';
import { dispositionOf, toFailure } from './failure.js';
import {
  CancelledError,
  ConflictError,
  InvalidMessageError,
  NotFoundError,
  TransientError,
  UnauthorizedError,
} from './family.js';

describe('disposition', () => {
  it.each([
    [new InvalidMessageError('invalid-message', 'no'), 'terminal'],
    [new NotFoundError('no'), 'terminal'],
    [new ConflictError('version-moved', 'moved'), 'retry-now'],
    [new ConflictError('fenced', 'lost'), 'retry-now'],
    [new ConflictError('payload-mismatch', 'other payload'), 'terminal'],
    [new TransientError('rate-limited', 'slow', { retryAfterMs: 10 }), 'retry'],
    [new CancelledError('shutdown'), 'cancelled'],
    [new DOMException('aborted', 'AbortError'), 'cancelled'],
    [new TypeError('x is undefined'), 'retry-few'],
    ['a thrown string', 'retry-few'],
  ] as const)('of %s is %s', (error, disposition) => {
    expect(dispositionOf(error)).toBe(disposition);
  });
});

describe('failure', () => {
  it('carries code, message and details of an AppError and nothing of its cause or stack', () => {
    const error = new TransientError('database-unavailable', 'the database is away', {
      details: { host: 'db' },
      cause: new Error('password hunter2'),
    });
    const failure = toFailure(error);
    expect(failure).toEqual({
      code: 'database-unavailable',
      message: 'the database is away',
      details: { host: 'db' },
      retryable: true,
    });
    expect(JSON.stringify(failure)).not.toContain('hunter2');
  });

  it('tells nothing about an unknown error', () => {
    const failure = toFailure(new TypeError('cannot read password hunter2'));
    expect(failure).toMatchObject({ code: 'internal', details: {}, retryable: true });
    expect(JSON.stringify(failure)).not.toContain('hunter2');
  });

  it('survives details that are not JSON', () => {
    const cycle: Record<string, unknown> = {};
    cycle.self = cycle;
    for (const details of [cycle, { big: 1n }]) {
      expect(toFailure(new NotFoundError('no', { details })).details).toEqual({ omitted: expect.any(String) });
    }
  });

  it('is not retryable after a cancel', () => {
    expect(toFailure(new DOMException('aborted', 'AbortError'))).toMatchObject({ code: 'cancelled', retryable: false });
  });
});

describe('messages', () => {
  it('of a config error name place, seen, expected and next step', () => {
    const error = new ConfigError([
      {
        where: 'agents/a.yaml',
        line: 3,
        column: 5,
        what: 'key `stepz` is unknown',
        expected: 'one of steps, tokens',
        next: 'rename or remove it',
      },
      { where: 'LINECLEAR_PORT', what: 'not a port', seen: '`x`', expected: '1 to 65535' },
    ]);
    expect(error.message.split('\n')).toEqual([
      'agents/a.yaml:3:5: key `stepz` is unknown; expected one of steps, tokens; rename or remove it',
      'LINECLEAR_PORT: not a port; seen `x`; expected 1 to 65535',
    ]);
    expect(toFailure(error)).toMatchObject({ code: 'bad-config', retryable: false });
  });

  it('of unauthorized errors are all the same', () => {
    expect(toFailure(new UnauthorizedError(new Error('expired')))).toEqual(
      toFailure(new UnauthorizedError(new Error('wrong audience'))),
    );
  });
});
