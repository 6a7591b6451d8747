import { z } from 'zod';

/**
 * The authorization is a compact JWS (alg EdDSA) of the policy engine, for exactly one call. CAUTION: signer and verifier compare these
 * three strings exactly.
 */
export const AUTHORIZATION_TYPE = 'lineclear-authorization+jwt';
export const AUTHORIZATION_ISSUER = 'lineclear/policy-engine';
export const AUTHORIZATION_AUDIENCE = 'lineclear/tool-registry';

/**
 * Claims of the JWS. `jti` is authorizationIdOf(callId, round, stage), `sub` the call id, `digest` callDigest of the call, `exp` and `iat`
 * seconds since 1970. With `approvalId` the permit rests on a grant: exp never passes the grant's end, and no clock skew extends it.
 */
export const authorizationClaimsSchema = z.object({
  iss: z.literal(AUTHORIZATION_ISSUER),
  aud: z.literal(AUTHORIZATION_AUDIENCE),
  jti: z.string(),
  sub: z.string(),
  tenant: z.string(),
  round: z.int().positive(),
  stage: z.enum(['first', 'approved']),
  digest: z.string(),
  definitionHash: z.string(),
  policyVersion: z.int().nonnegative(),
  approvalId: z.string().optional(),
  iat: z.int(),
  exp: z.int(),
});

export type AuthorizationClaims = z.infer<typeof authorizationClaimsSchema>;
