import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DevelopmentIssuer, TokenVerifier } from '@lineclear/identity';

/** A real issuer and a verifier that trusts it. */
export interface TestIdentity {
  readonly verifier: TokenVerifier;
  /** Headers of a caller: bearer token and JSON content type. */
  headers(tenant: string, subject: string, roles?: readonly string[]): Promise<Record<string, string>>;
}

/** Keys of its own for each call; nothing is left behind. */
export async function testIdentity(): Promise<TestIdentity> {
  const folder = await mkdtemp(join(tmpdir(), 'lineclear-issuer-'));
  const issuer = await DevelopmentIssuer.open(folder, { create: true, warn: () => undefined });
  await rm(folder, { recursive: true });
  const { issuer: name, audience } = issuer;
  return {
    verifier: new TokenVerifier({ issuer: name, audience, keys: { jwks: issuer.jwks() } }),
    headers: async (tenant, subject, roles = []) => ({
      authorization: `Bearer ${await issuer.issue({ tenant, subject, roles: [...roles], scopes: [] })}`,
      'content-type': 'application/json',
    }),
  };
}
