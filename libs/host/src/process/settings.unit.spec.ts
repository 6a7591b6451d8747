import { ConfigError } from '@lineclear/errors';
import { describe, expect, it } from 'vitest';
import { portOf } from './port-settings.js';
import { verifierOf } from './token-settings.js';

describe('the issuer of tokens', () => {
  const all = {
    LINECLEAR_ISSUER: 'https://id',
    LINECLEAR_AUDIENCE: 'lineclear',
    LINECLEAR_JWKS_URL: 'https://id/jwks',
  };

  it('is the one that the environment names, or none', () => {
    expect(verifierOf(all)).toBeDefined();
    expect(verifierOf({})).toBeUndefined();
    expect(verifierOf({ LINECLEAR_ISSUER: '' })).toBeUndefined();
  });

  it.each(Object.keys(all))('is refused when %s alone is missing', (name) => {
    expect(() => verifierOf({ ...all, [name]: undefined })).toThrow(ConfigError);
    expect(() => verifierOf({ ...all, [name]: '' })).toThrow(new RegExp(`^${name}: it is not set`));
  });
});

describe('the port', () => {
  it('is the usual one on loopback unless told', () => {
    expect(portOf({})).toEqual({ host: '127.0.0.1', port: 8420, isAsked: false });
    expect(portOf({ LINECLEAR_PORT: '0', LINECLEAR_HOST: '0.0.0.0' })).toEqual({
      host: '0.0.0.0',
      port: 0,
      isAsked: true,
    });
  });

  it.each(['x', '-1', '65536', '80 ', '1e3'])('is refused when it is %j', (text) => {
    expect(() => portOf({ LINECLEAR_PORT: text })).toThrow(/LINECLEAR_PORT/);
  });
});
