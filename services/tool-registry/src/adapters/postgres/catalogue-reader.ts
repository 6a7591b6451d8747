import type { ReadHandle } from '@lineclear/messaging';
import type { Tool } from '../../domain/tool.js';

/** The catalogue and the policy floor as of one batch. */
export interface Catalogue {
  readonly tools: ReadonlyMap<string, Tool>;
  /** in the order of their names */
  readonly list: readonly Tool[];
  /** servers that were observed at least once */
  readonly servers: ReadonlySet<string>;
  readonly notBeforeVersion: number;
}

/** For a batch that needs none. Whatever asks it all the same is refused: no tool is known, and no policy version is high enough. */
export const NO_CATALOGUE: Catalogue = {
  tools: new Map(),
  list: [],
  servers: new Set(),
  notBeforeVersion: Number.MAX_SAFE_INTEGER,
};

interface HeadRow {
  readonly change: string | null;
  readonly floor: number | null;
}

const HEAD = `SELECT (SELECT string_agg(change, ',' ORDER BY shard) FROM catalogue_head) AS change,
  (SELECT max(not_before_version) FROM policy_floor) AS floor`;

/** Reads the catalogue once per change of it; a batch asks only whether it changed, which costs one small query. */
export class CatalogueReader {
  #change: string | null | undefined;
  #catalogue: Omit<Catalogue, 'notBeforeVersion'> = { tools: new Map(), list: [], servers: new Set() };

  async read(read: ReadHandle): Promise<Catalogue> {
    const [head] = await read.query<HeadRow>(HEAD);
    if (head?.change !== this.#change) {
      this.#catalogue = await load(read);
      this.#change = head?.change;
    }
    return { ...this.#catalogue, notBeforeVersion: head?.floor ?? 0 };
  }
}

async function load(read: ReadHandle): Promise<Omit<Catalogue, 'notBeforeVersion'>> {
  const rows = await read.query<{ tool: string }>('SELECT tool FROM tool ORDER BY name COLLATE "C"');
  const servers = await read.query<{ name: string }>('SELECT name FROM server');
  const list = rows.map(({ tool }) => JSON.parse(tool) as Tool);
  return {
    list,
    tools: new Map(list.map((tool) => [tool.name, tool])),
    servers: new Set(servers.map(({ name }) => name)),
  };
}
