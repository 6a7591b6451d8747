export { bootService } from './boot/boot-service.js';
export { Describe, type RouteDescription } from './docs/describe.js';
export { docsPage } from './docs/docs-page.js';
export type { OpenApiDocument } from './docs/openapi.js';
export type { TokenVerifier } from './http/auth-guard.js';
export { eventStream, type FollowOptions, type ServerSentEvent } from './http/event-stream.js';
export type { Route } from './http/http-app.js';
export {
  cursorAt,
  pageLimit,
  pageOf,
  type PageStart,
  pageSchema,
  pageStartOf,
} from './http/page.js';
export { CurrentPrincipal, type HostRequest, Public, Roles } from './http/principal.js';
export { type Problem, type ProblemAnswer, problemOf } from './http/problem.js';
export { RawBody } from './http/raw-body.js';
export type { ParkedMessage, ParkedView } from './parked/held-messages.js';
export { listen, type ListenOptions } from './process/listen.js';
export { portOf, type PortSettings } from './process/port-settings.js';
export { runProcess, type RunProcessOptions, type Stoppable } from './process/run-process.js';
export { runService } from './process/run-service.js';
export { verifierOf } from './process/token-settings.js';
export {
  CLOSING,
  DATA_SOURCE,
  type Environment,
  type HostOptions,
  type InternalAnswer,
  type InternalRequest,
  LOGGER,
  type RunningService,
  type ServiceDefinition,
} from './service-definition.js';
export { unwrap } from './unwrap.js';
export { PRODUCT_VERSION } from './version.js';
