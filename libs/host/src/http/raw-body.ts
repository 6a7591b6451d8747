import { RouteConfig } from '@nestjs/platform-fastify';

interface Routed {
  readonly routeOptions: { readonly config: unknown };
}

/**
 * The route takes a body of any content type, unread: `@Body() body: Buffer | undefined`. For routes that answer to content which is not what it says
 * it is; everything is theirs to check.
 */
export const RawBody = (): MethodDecorator => RouteConfig({ isBodyRaw: true });

export function takesRawBody(request: Routed): boolean {
  return (request.routeOptions.config as { isBodyRaw?: boolean }).isBodyRaw === true;
}
