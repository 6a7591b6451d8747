import type { CanActivate, ExecutionContext } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { Principal } from '@lineclear/contracts';
import { ForbiddenError, UnauthorizedError } from '@lineclear/errors';
import { ACCESS_METADATA, type HostRequest } from './principal.js';

/** Verifies a bearer token. Rejects with UnauthorizedError, which reads the same whatever was wrong. */
export interface TokenVerifier {
  verify(token: string): Promise<Principal>;
}

const BEARER = /^Bearer ([A-Za-z0-9._~+/=-]+)$/i;

/** Every route needs a valid bearer token unless it is `@Public()`, and one of its `@Roles(...)` where it names some. */
export class AuthGuard implements CanActivate {
  private readonly reflector = new Reflector();

  constructor(private readonly verifier: TokenVerifier) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const targets = [context.getHandler(), context.getClass()];
    if (this.reflector.getAllAndOverride<boolean | undefined>(ACCESS_METADATA.public, targets)) return true;
    const request = context.switchToHttp().getRequest<HostRequest>();
    const principal = await this.verifier.verify(bearerOf(request.headers['authorization']));
    request.principal = principal;
    const roles = this.reflector.getAllAndOverride<string[] | undefined>(ACCESS_METADATA.roles, targets);
    if (roles === undefined || roles.some((role) => principal.roles.includes(role))) return true;
    throw new ForbiddenError(`this needs the role ${roles.map((role) => `\`${role}\``).join(' or ')}`, {
      details: { where: 'roles of the token', seen: principal.roles, expected: roles, next: 'ask for the role' },
    });
  }
}

function bearerOf(header: string | string[] | undefined): string {
  const token = typeof header === 'string' ? BEARER.exec(header)?.[1] : undefined;
  if (token === undefined) throw new UnauthorizedError('no bearer token in the header `authorization`');
  return token;
}
