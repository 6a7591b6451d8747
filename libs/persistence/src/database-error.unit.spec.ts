import { ConfigError, NotFoundError, TransientError } from '@lineclear/errors';
import { describe, expect, it } from 'vitest';
import { toDatabaseError } from './database-error.js';

const coded = (code: string, message = 'text') => Object.assign(new Error(message), { code });

describe('toDatabaseError', () => {
  it.each(['ECONNREFUSED', '08006', '53300', '57P01', '57014', '40001', '40P01', '55P03'])(
    'calls %s transient',
    (code) => {
      expect(toDatabaseError(coded(code))).toBeInstanceOf(TransientError);
    },
  );

  it.each(['Connection terminated unexpectedly', 'Client has encountered a connection error and is not queryable'])(
    'calls `%s` transient',
    (message) => {
      expect(toDatabaseError(new Error(message))).toBeInstanceOf(TransientError);
    },
  );

  it.each(['28P01', '28000', '3D000'])('calls %s a configuration error', (code) => {
    expect(toDatabaseError(coded(code))).toBeInstanceOf(ConfigError);
  });

  it.each([coded('23505'), coded('P0001'), new TypeError('bug'), new NotFoundError('no'), 'text'])(
    'leaves %s as it is',
    (error) => {
      expect(toDatabaseError(error)).toBe(error);
    },
  );
});
