import type { Principal } from '@lineclear/contracts';
import type { JWTPayload } from 'jose';
import { NAME } from './name.js';

/** Names of the claims that an issuer uses; the subject is always `sub`, scopes are the words of `scope`. */
export interface ClaimNames {
  /** Default `tenant`. */
  readonly tenant?: string;
  /** Default `roles`: a list of names. */
  readonly roles?: string;
}

const MAX_ROLES = 200;

/** @throws Error for claims that do not make a principal; a missing list of roles or scopes is an empty one */
export function principalOf(payload: JWTPayload, names: ClaimNames = {}): Principal {
  const roles = payload[names.roles ?? 'roles'] ?? [];
  const scope = payload.scope ?? '';
  if (!Array.isArray(roles) || roles.length > MAX_ROLES) throw new Error('the roles are no list');
  if (typeof scope !== 'string') throw new Error('the scope is no text');
  return {
    tenant: name(payload[names.tenant ?? 'tenant'], 'tenant'),
    subject: name(payload.sub, 'subject'),
    roles: roles.map((role) => name(role, 'role')),
    scopes: scope.split(' ').flatMap((word) => (word === '' ? [] : [name(word, 'scope')])),
  };
}

function name(value: unknown, what: string): string {
  if (typeof value === 'string' && NAME.test(value)) return value;
  throw new Error(`the ${what} is no name`);
}
