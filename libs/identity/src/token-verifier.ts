import type { Principal } from '@lineclear/contracts';
import { ConfigError, TransientError, UnauthorizedError } from '@lineclear/errors';
import {
  createLocalJWKSet,
  createRemoteJWKSet,
  errors,
  type JSONWebKeySet,
  type JWTPayload,
  type JWTVerifyGetKey,
  jwtVerify,
} from 'jose';
import { type ClaimNames, principalOf } from './claims.js';

/** Where the public keys come from: the issuer's JWKS address, or a document given here. */
export type KeySource = { readonly url: string } | { readonly jwks: JSONWebKeySet };

export interface TokenVerifierOptions {
  /** Must equal `iss`. */
  readonly issuer: string;
  /** Must be `aud` or one of it. */
  readonly audience: string;
  readonly keys: KeySource;
  /** Default EdDSA, ES256, RS256, PS256. Symmetric ones and `none` are refused here, whatever the token says. */
  readonly algorithms?: readonly string[];
  /** For clocks that differ; default 5, at most 60. */
  readonly clockToleranceSeconds?: number;
  readonly claimNames?: ClaimNames;
}

const ALGORITHMS = ['EdDSA', 'Ed25519', 'ES256', 'RS256', 'PS256'];
const ASYMMETRIC = /^(EdDSA|Ed25519|(ES|RS|PS)(256|384|512))$/;
const TYPES = /^(application\/)?(at\+)?jwt$/i;
const MAX_TOKEN_CHARS = 16_384;
/** A token that lives longer is a mistake, such as `exp` in milliseconds. */
const MAX_LIFETIME_SECONDS = 366 * 86_400;

/** A client sends the same token with each request: its signature is checked again after this, so that a key that was withdrawn counts soon. */
const KNOWN_MS = 30_000;
const KNOWN_TOKENS = 256;

interface KnownToken {
  readonly principal: Principal;
  /** milliseconds since the epoch */
  readonly until: number;
}

/** Turns bearer tokens (JWT, signed by the issuer) into principals. */
export class TokenVerifier {
  /** good ones, the oldest first */
  readonly #known = new Map<string, KnownToken>();
  readonly #keys: JWTVerifyGetKey;
  readonly #options: TokenVerifierOptions;
  readonly #algorithms: readonly string[];

  /** @throws ConfigError for options that would accept too much */
  constructor(options: TokenVerifierOptions) {
    this.#options = options;
    this.#algorithms = options.algorithms ?? ALGORITHMS;
    const weak = this.#algorithms.find((name) => !ASYMMETRIC.test(name));
    if (weak !== undefined || this.#algorithms.length === 0) {
      throw new ConfigError([
        {
          where: 'token algorithms',
          what: 'the list cannot be used',
          seen: `\`${weak ?? 'nothing'}\``,
          expected: 'asymmetric ones',
          next: 'correct it',
        },
      ]);
    }
    if (options.issuer === '' || options.audience === '') {
      throw new ConfigError([
        {
          where: 'LINECLEAR_ISSUER, LINECLEAR_AUDIENCE',
          what: 'issuer and audience of tokens must be named',
          next: 'set both',
        },
      ]);
    }
    this.#keys = keySet(options.keys);
  }

  /**
   * @throws UnauthorizedError, the same for whatever is wrong with the token; TransientError when the issuer's keys cannot be fetched now
   */
  async verify(token: string): Promise<Principal> {
    const known = this.#known.get(token);
    if (known !== undefined && Date.now() < known.until) return known.principal;
    try {
      const payload = await this.#payload(token);
      const principal = principalOf(payload, this.#options.claimNames);
      this.#remember(token, { principal, until: Math.min(Date.now() + KNOWN_MS, Number(payload.exp) * 1_000) });
      return principal;
    } catch (cause) {
      if (cause instanceof KeysUnavailable)
        throw new TransientError('unavailable', 'the keys of the token issuer cannot be fetched now', {
          cause: cause.cause,
        });
      throw new UnauthorizedError(cause);
    }
  }

  #remember(token: string, known: KnownToken): void {
    this.#known.delete(token);
    this.#known.set(token, known);
    const [oldest] = this.#known.keys();
    if (this.#known.size > KNOWN_TOKENS && oldest !== undefined) this.#known.delete(oldest);
  }

  async #payload(token: string): Promise<JWTPayload> {
    if (token.length > MAX_TOKEN_CHARS) throw new Error('the token is too long');
    const { payload, protectedHeader } = await jwtVerify(token, this.#keys, {
      issuer: this.#options.issuer,
      audience: this.#options.audience,
      algorithms: [...this.#algorithms],
      clockTolerance: Math.min(60, this.#options.clockToleranceSeconds ?? 5),
      requiredClaims: ['exp', 'iss', 'aud', 'sub'],
    });
    if (protectedHeader.typ !== undefined && !TYPES.test(protectedHeader.typ))
      throw new Error('the token is of another type');
    if (!Number.isSafeInteger(payload.exp)) throw new Error('exp is no integer');
    if (Number(payload.exp) > Date.now() / 1_000 + MAX_LIFETIME_SECONDS) throw new Error('exp is too far away');
    return payload;
  }
}

/** Fetching keys failed, which says nothing about the token. */
class KeysUnavailable extends Error {}

function keySet(source: KeySource): JWTVerifyGetKey {
  if ('jwks' in source) return createLocalJWKSet(source.jwks);
  const url = URL.parse(source.url);
  if (url === null || !['https:', 'http:'].includes(url.protocol)) {
    throw new ConfigError([
      {
        where: 'LINECLEAR_JWKS_URL',
        what: 'this is no address',
        seen: `\`${source.url}\``,
        expected: '`https://…`',
        next: 'correct it',
      },
    ]);
  }
  const remote = createRemoteJWKSet(url, { timeoutDuration: 5_000, cooldownDuration: 10_000, cacheMaxAge: 600_000 });
  return async (header, token) => {
    try {
      return await remote(header, token);
    } catch (cause) {
      if (
        cause instanceof errors.JWKSNoMatchingKey ||
        cause instanceof errors.JWKSMultipleMatchingKeys ||
        cause instanceof errors.JOSENotSupported
      )
        throw cause;
      throw new KeysUnavailable('keys unavailable', { cause });
    }
  };
}
