import { ConfigError } from '@lineclear/errors';
import { type Environment, type TokenVerifier, verifierOf } from '@lineclear/host';
import { DevelopmentIssuer, TokenVerifier as JwtVerifier } from '@lineclear/identity';

export interface PlatformTokens {
  readonly verifier: TokenVerifier;
  /** undefined: the environment names a real issuer */
  readonly development: DevelopmentIssuer | undefined;
}

/** Whose tokens a platform accepts: those of the issuer that the environment names, else those of the development issuer in the data folder. */
export async function openTokens(
  environment: Environment,
  homeDir: string,
  warn: (line: string) => void,
): Promise<PlatformTokens> {
  const named = verifierOf(environment);
  if (named !== undefined) return { verifier: named, development: undefined };
  const development = await DevelopmentIssuer.open(homeDir, { create: true, warn });
  const { issuer, audience } = development;
  return { verifier: new JwtVerifier({ issuer, audience, keys: { jwks: development.jwks() } }), development };
}

export function noDevelopmentIssuer(): ConfigError {
  return new ConfigError([
    {
      where: 'LINECLEAR_ISSUER',
      what: 'tokens come from the issuer that it names, so this process makes none',
      next: 'get a token there, or unset it to use the development issuer',
    },
  ]);
}
