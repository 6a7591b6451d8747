import { ConfigError } from '@lineclear/errors';
import { TokenVerifier } from '@lineclear/identity';
import type { Environment } from '../service-definition.js';

const NAMES = ['LINECLEAR_ISSUER', 'LINECLEAR_AUDIENCE', 'LINECLEAR_JWKS_URL'] as const;

/**
 * The verifier for the issuer that the environment names; undefined when it names none.
 * @throws ConfigError when it names one by halves, which must never fall back to something weaker
 */
export function verifierOf(environment: Environment): TokenVerifier | undefined {
  const [issuer = '', audience = '', url = ''] = NAMES.map((name) => environment[name]);
  const missing = NAMES.filter((name) => (environment[name] ?? '') === '');
  if (missing.length === NAMES.length) return undefined;
  const [first, ...rest] = missing.map((where) => ({
    where,
    what: 'it is not set, but the others of LINECLEAR_ISSUER, LINECLEAR_AUDIENCE and LINECLEAR_JWKS_URL are',
    next: 'set all three, or none for the development issuer',
  }));
  if (first !== undefined) throw new ConfigError([first, ...rest]);
  return new TokenVerifier({ issuer, audience, keys: { url } });
}
