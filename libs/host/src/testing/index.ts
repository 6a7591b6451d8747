export { type HostedAnswer, type HostedOptions, type HostedService, startHosted } from './hosted-service.js';
export { type Caller, type TestIdentity, testIdentity } from './test-identity.js';
