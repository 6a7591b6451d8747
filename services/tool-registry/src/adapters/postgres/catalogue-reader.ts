import type { LaneBatch, ReadHandle } from '@lineclear/messaging';
import type { Tool } from '../../domain/tool.js';
import { CATALOGUE_HEAD, POLICY_FLOOR } from './tables.js';

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

/** Reads the catalogue once per change of it. A batch asks whether it changed, by one small query where other replicas may have changed it. */
export class CatalogueReader {
  #change: string | null | undefined;
  #mark: number | undefined;
  #catalogue: Catalogue = { tools: new Map(), list: [], servers: new Set(), notBeforeVersion: 0 };

  async read(batch: Pick<LaneBatch, 'read' | 'mark'>): Promise<Catalogue> {
    const mark = batch.mark([CATALOGUE_HEAD, POLICY_FLOOR]);
    if (mark !== undefined && mark === this.#mark) return this.#catalogue;
    const [head] = await batch.read.query<HeadRow>(HEAD);
    const known = head?.change === this.#change ? this.#catalogue : await load(batch.read);
    this.#catalogue = { ...known, notBeforeVersion: head?.floor ?? 0 };
    this.#change = head?.change;
    this.#mark = mark;
    return this.#catalogue;
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
