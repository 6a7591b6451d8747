import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DevelopmentIssuer, TokenVerifier } from '@lineclear/identity';

export interface Caller {
  readonly tenant: string;
  readonly subject: string;
  readonly roles?: readonly string[];
}

/** A real issuer and a verifier that trusts it. */
export interface TestIdentity {
  readonly verifier: TokenVerifier;
  token(caller: Caller): Promise<string>;
}

/** Keys of its own for each call; nothing is left behind. */
export async function testIdentity(): Promise<TestIdentity> {
  const folder = await mkdtemp(join(tmpdir(), 'lineclear-issuer-'));
  const issuer = await DevelopmentIssuer.open(folder, { create: true, warn: () => undefined });
  await rm(folder, { recursive: true });
  const { issuer: name, audience } = issuer;
  return {
    verifier: new TokenVerifier({ issuer: name, audience, keys: { jwks: issuer.jwks() } }),
    token: ({ tenant, subject, roles = [] }) => issuer.issue({ tenant, subject, roles: [...roles], scopes: [] }),
  };
}
