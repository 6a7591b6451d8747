import type { PolicyText } from '../domain/policy-set.js';

/** CAUTION: names of commands in the mailbox; persisted until they are handled. */
export const ACTIVATE_POLICY_SET = 'activate-policy-set';
export const REVOKE_AUTHORIZATIONS = 'revoke-authorizations';

export interface ActivatePolicySet {
  readonly hash: string;
  readonly files: readonly PolicyText[];
}

export interface RevokeAuthorizations {
  readonly reason: string;
}

/** What both commands answer. */
export interface ActivatedSet {
  readonly version: number;
  readonly notBeforeVersion: number;
}
