export { Describe, type RouteDescription } from './docs/describe.js';
export type { TokenVerifier } from './http/auth-guard.js';
export { eventStream, type FollowOptions, type ServerSentEvent } from './http/event-stream.js';
export { CurrentPrincipal, type HostRequest, Public, Roles } from './http/principal.js';
export { RawBody } from './http/raw-body.js';
export { type Problem, type ProblemAnswer, problemOf } from './http/problem.js';
export {
  CLOSING,
  DATA_SOURCE,
  type Environment,
  type HostOptions,
  LOGGER,
  type RunningService,
  type ServiceDefinition,
} from './service-definition.js';
export { unwrap } from './unwrap.js';
