import type { StateStore } from '@lineclear/messaging';

/** The set in force, by name. */
export interface PolicySetState {
  readonly version: number;
  readonly notBeforeVersion: number;
  readonly hash: string;
  readonly files: string;
}

export const POLICY_SET_STORE: StateStore<PolicySetState> = {
  name: 'policy-set',
  async load(names, read) {
    const rows = await read.query<{
      name: string;
      version: number;
      not_before_version: number;
      hash: string;
      files: string;
    }>('SELECT name, version, not_before_version, hash, files FROM policy_set WHERE name = ANY($1::text[])', [names]);
    return new Map(
      rows.map(({ name, version, not_before_version: notBeforeVersion, hash, files }) => [
        name,
        { version, notBeforeVersion, hash, files },
      ]),
    );
  },
};
