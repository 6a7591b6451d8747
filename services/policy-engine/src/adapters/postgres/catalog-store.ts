import type { StateStore } from '@lineclear/messaging';

/** Position of the newest update that a tool's row holds, by canonical name. */
export const CATALOG_STORE: StateStore<{ readonly sequence: bigint }> = {
  name: 'catalog-tool',
  async load(names, read) {
    const rows = await read.query<{ name: string; sequence: string }>(
      'SELECT name, sequence FROM catalog_tool WHERE name = ANY($1::text[])',
      [names],
    );
    return new Map(rows.map(({ name, sequence }) => [name, { sequence: BigInt(sequence) }]));
  },
};
