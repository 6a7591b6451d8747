export { type CallCheck, checkCallAgainst, type CheckedCall } from './application/check-call.js';
export type { PolicyEngineConfig } from './config.js';
export { policyEngine } from './policy-engine.js';
