import type { StateStore } from '@lineclear/messaging';

export interface PolicyFloor {
  readonly version: number;
}

/** The newest activation seen of each policy set. */
export const POLICY_FLOORS: StateStore<PolicyFloor> = {
  name: 'policy-floor',
  async load(names, read) {
    const rows = await read.query<{ set_name: string; version: number }>(
      'SELECT set_name, version FROM policy_floor WHERE set_name = ANY($1::text[])',
      [names],
    );
    return new Map(rows.map(({ set_name, version }) => [set_name, { version }]));
  },
};
