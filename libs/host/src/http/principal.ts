import { createParamDecorator, type ExecutionContext, SetMetadata } from '@nestjs/common';
import { UnauthorizedError } from '@lineclear/errors';
import type { Principal } from '@lineclear/contracts';

/** What the host adds to Fastify's request. */
export interface HostRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** set by the guard on every route that is not public */
  principal?: Principal;
}

const PUBLIC = Symbol('lineclear:public');
const ROLES = Symbol('lineclear:roles');

/** The route (or every route of the controller) answers without a token. */
export const Public = (): MethodDecorator & ClassDecorator => SetMetadata(PUBLIC, true);

/** The caller must hold one of these roles; otherwise 403. */
export const Roles = (...roles: [string, ...string[]]): MethodDecorator & ClassDecorator => SetMetadata(ROLES, roles);

/** CAUTION: read by the guard and by the generated documentation. */
export const ACCESS_METADATA = { public: PUBLIC, roles: ROLES } as const;

/** The verified identity of the caller: `@CurrentPrincipal() principal: Principal`. */
export const CurrentPrincipal = createParamDecorator((_: unknown, context: ExecutionContext): Principal => {
  const { principal } = context.switchToHttp().getRequest<HostRequest>();
  if (principal === undefined) throw new UnauthorizedError('the route is public and has no principal');
  return principal;
});
