import type { ToolTraits } from '@lineclear/contracts';
import type { LaneBatch, ReadHandle } from '@lineclear/messaging';
import type { Grant, KnownTool, Proposal } from '../../domain/decide-call.js';
import { POLICY_SET_NAME } from '../../domain/policy-set-name.js';
import { CATALOG_TOOL, POLICY_SET } from './tables.js';

/** What a batch of calls needs to know, read by one statement. */
export interface BatchFacts {
  /** undefined: no set was ever activated */
  readonly setVersion: number | undefined;
  /** ids, of those asked for, that were decided before */
  readonly decided: ReadonlySet<string>;
  readonly tools: ReadonlyMap<string, KnownTool>;
}

interface ToolRow {
  readonly name: string;
  readonly definition_hash: string;
  readonly traits: string;
}

const FACTS = `
  SELECT (SELECT version FROM policy_set WHERE name = $1) AS version,
    ARRAY(SELECT decision_id FROM decision WHERE decision_id = ANY($2::text[])) AS decided,
    (SELECT json_agg(json_build_object('name', name, 'definition_hash', definition_hash, 'traits', traits))
     FROM catalog_tool WHERE name = ANY($3::text[])) AS tools`;

/** Tables whose rows the facts are made of, but for the decisions themselves. */
const SOURCES = [POLICY_SET, CATALOG_TOOL];

/**
 * What earlier batches read, for as long as nothing of it changed. Owned by one lane. INVARIANT: a batch that reads nothing takes no call for decided; one
 * that was is met by the guard of its row, and then judged by itself with a read.
 */
export class KnownFacts {
  readonly #tools: ToolCache = new Map();
  readonly #known = new Set<string>();
  #mark: number | undefined;
  #setVersion: number | undefined;

  async read(
    batch: Pick<LaneBatch, 'read' | 'mark'>,
    decisionIds: readonly string[],
    toolNames: readonly string[],
  ): Promise<BatchFacts> {
    const mark = batch.mark(SOURCES);
    if (mark === undefined || mark !== this.#mark) this.#known.clear();
    else if (toolNames.every((name) => this.#known.has(name))) {
      const tools = new Map(toolNames.flatMap((name) => entryOf(name, this.#tools)));
      return { setVersion: this.#setVersion, decided: new Set(), tools };
    }
    const facts = await readBatchFacts(batch.read, decisionIds, toolNames, this.#tools);
    for (const name of facts.tools.keys()) this.#known.add(name);
    this.#mark = mark;
    this.#setVersion = facts.setVersion;
    return facts;
  }
}

/** Tools whose row did not change since they were read; schemas are large and rarely needed. Owned by one lane. */
type ToolCache = Map<string, { readonly definitionHash: string; readonly traits: string; readonly tool: KnownTool }>;

async function readBatchFacts(
  read: ReadHandle,
  decisionIds: readonly string[],
  toolNames: readonly string[],
  cache: ToolCache,
): Promise<BatchFacts> {
  const values = [POLICY_SET_NAME, decisionIds, toolNames];
  const [row] = await read.query<{ version: number | null; decided: string[]; tools: ToolRow[] | null }>(FACTS, values);
  const rows = row?.tools ?? [];
  await readSchemas(read, rows, cache);
  const tools = new Map(rows.flatMap(({ name }) => entryOf(name, cache)));
  return { setVersion: row?.version ?? undefined, decided: new Set(row?.decided), tools };
}

function entryOf(name: string, cache: ToolCache): [string, KnownTool][] {
  const known = cache.get(name);
  return known === undefined ? [] : [[name, known.tool]];
}

async function readSchemas(read: ReadHandle, rows: readonly ToolRow[], cache: ToolCache): Promise<void> {
  const stale = rows.filter(({ name, definition_hash, traits }) => {
    const known = cache.get(name);
    return known?.definitionHash !== definition_hash || known.traits !== traits;
  });
  if (stale.length === 0) return;
  const found = await read.query<ToolRow & { schema: string }>(
    'SELECT name, definition_hash, traits, schema FROM catalog_tool WHERE name = ANY($1::text[])',
    [stale.map(({ name }) => name)],
  );
  for (const { name, definition_hash: definitionHash, traits, schema } of found) {
    const tool = {
      definitionHash,
      schema: JSON.parse(schema) as KnownTool['schema'],
      traits: JSON.parse(traits) as ToolTraits,
    };
    cache.set(name, { definitionHash, traits, tool });
  }
}

/** A referral as its decision keeps it, so that the grant can be decided without asking anybody. */
export interface Referral {
  readonly proposal: Proposal;
  readonly approvers: readonly string[];
  readonly fourEyes: boolean;
}

export async function readReferrals(
  read: ReadHandle,
  decisionIds: readonly string[],
): Promise<ReadonlyMap<string, Referral>> {
  if (decisionIds.length === 0) return new Map();
  const rows = await read.query<{ decision_id: string; referral: string }>(
    'SELECT decision_id, referral FROM decision WHERE decision_id = ANY($1::text[]) AND referral IS NOT NULL',
    [decisionIds],
  );
  return new Map(rows.map((row) => [row.decision_id, JSON.parse(row.referral) as Referral]));
}

interface GrantRow {
  readonly approval_id: string;
  readonly tenant: string;
  readonly call_id: string;
  readonly digest: string;
  readonly valid_until: Date;
  readonly is_edited: boolean;
  readonly approvers: string[];
  readonly four_eyes: boolean;
}

export async function readGrants(
  read: ReadHandle,
  approvalIds: readonly string[],
): Promise<ReadonlyMap<string, Grant>> {
  if (approvalIds.length === 0) return new Map();
  const rows = await read.query<GrantRow>(
    `SELECT approval_id, tenant, call_id, digest, valid_until, is_edited, approvers, four_eyes
     FROM approval_grant WHERE approval_id = ANY($1::text[])`,
    [approvalIds],
  );
  return new Map(
    rows.map((row) => [
      row.approval_id,
      {
        approvalId: row.approval_id,
        tenant: row.tenant,
        callId: row.call_id,
        digest: row.digest,
        validUntilMs: row.valid_until.getTime(),
        isEdited: row.is_edited,
        approvers: row.approvers,
        fourEyes: row.four_eyes,
      },
    ]),
  );
}
