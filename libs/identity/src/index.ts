export type { ClaimNames } from './claims.js';
export { isSignedBy, type JwsHeader, type ReadJws, readJws, signJws } from './compact-jws.js';
export { DEFAULT_AUDIENCE, DEVELOPMENT_ISSUER, DevelopmentIssuer, type TokenRequest } from './development-issuer.js';
export { effectiveRoles } from './effective-roles.js';
export { loadProducers, parseProducers, type Producers } from './producers.js';
export { type KeySource, TokenVerifier, type TokenVerifierOptions } from './token-verifier.js';
