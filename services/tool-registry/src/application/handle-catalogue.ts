import { contentHash } from '@lineclear/contracts';
import { type AppError, ConflictError, NotFoundError, toFailure } from '@lineclear/errors';
import type { CommandInput, LaneBatch, LaneInput, WriteSet } from '@lineclear/messaging';
import { NO_TOOLS, SERVER_TOOLS, type ServerTools, type StoredTool } from '../adapters/postgres/server-store.js';
import { CATALOGUE_HEAD, SERVER, TOOL } from '../adapters/postgres/tables.js';
import { canonicalName } from '../domain/alias.js';
import { BUILT_IN } from '../domain/read-result.js';
import { acceptSeen, listingOf, observeTool, type Tool, viewOf } from '../domain/tool.js';
import {
  ACCEPT_TOOL,
  type AcceptTool,
  DISABLE_TOOL,
  PLATFORM_TENANT,
  SERVER_OBSERVED,
  type ServerObserved,
  type ToolOrder,
} from './catalogue-commands.js';

/** What replicas saw of their servers, and what operators ordered. Every change of a tool is told on the catalog topic. */
export async function handleCatalogue(inputs: readonly LaneInput[], batch: LaneBatch): Promise<void> {
  await batch.load(SERVER_TOOLS, [...new Set(inputs.map(({ key }) => key))]);
  for (const input of inputs) {
    if (input.kind !== 'command') continue;
    batch.attempt(input, (writes) => {
      const server = batch.state(SERVER_TOOLS, input.key) ?? NO_TOOLS;
      const change = { input, server, writes, now: batch.now };
      if (input.name === SERVER_OBSERVED) observed(change, input.payload as ServerObserved);
      else ordered(change, input.payload as ToolOrder);
    });
  }
}

interface Change {
  readonly input: CommandInput;
  readonly server: ServerTools;
  readonly writes: WriteSet;
  readonly now: Date;
}

function observed(change: Change, { obstacle, observations }: ServerObserved): void {
  const { input, server } = change;
  const seen = new Map(observations.map((each) => [toolName(input.key, each.originalName), each]));
  const after = [...seen].map(([name, each]) => observeTool(server.tools.get(name)?.tool, name, each));
  const missing = [...server.tools.values()]
    .filter(({ tool }) => !seen.has(tool.name))
    .map(({ tool }) => ({ ...tool, obstacle: obstacle ?? `server \`${input.key}\` does not list it` }));
  apply(change, obstacle, [...after, ...missing]);
}

const toolName = (server: string, tool: string): string => (server === BUILT_IN ? tool : canonicalName(server, tool));

function ordered(change: Change, order: ToolOrder): void {
  const { input, server, writes } = change;
  const known = server.tools.get(order.name)?.tool;
  const after = known === undefined ? unknownTool(order.name) : orderedTool(input, known, order);
  if ('code' in after) return writes.answer({ ok: false, failure: toFailure(after) });
  apply(change, server.obstacle, [after]);
  writes.answer({ ok: true, value: listingOf(after) });
}

function orderedTool({ name, by }: CommandInput, tool: Tool, order: ToolOrder): Tool | AppError {
  if (name === DISABLE_TOOL) return { ...tool, disabled: { by: by?.subject ?? 'platform', reason: order.reason } };
  if (name !== ACCEPT_TOOL) return { ...tool, disabled: null };
  const { definitionHash } = order as AcceptTool;
  return acceptSeen(tool, definitionHash) ?? notSeen(tool, definitionHash);
}

function notSeen({ name, seen }: Tool, hash: string): AppError {
  return new ConflictError(
    'payload-mismatch',
    `definition \`${hash}\` is not the one that tool \`${name}\` has now; look at it again`,
    {
      details: { where: 'definitionHash', seen: hash, expected: seen?.hash ?? 'nothing: the tool is not quarantined' },
    },
  );
}

const unknownTool = (name: string): AppError =>
  new NotFoundError(`there is no tool \`${name}\`; \`GET /v1/tools\` lists them`);

function apply({ input, server, writes, now }: Change, obstacle: string | null, after: readonly Tool[]): void {
  const tools = new Map(server.tools);
  let isChanged = !server.isObserved || server.obstacle !== obstacle;
  for (const tool of after) {
    const before = server.tools.get(tool.name);
    if (before !== undefined && contentHash(before.tool) === contentHash(tool)) continue;
    const stored = { tool, sequence: (before?.sequence ?? 0) + 1 };
    tools.set(tool.name, stored);
    writeTool(writes, stored, now);
    isChanged = true;
  }
  if (!isChanged) return;
  writes.put(SERVER, { name: input.key, obstacle, observed_at: now });
  writes.put(CATALOGUE_HEAD, { shard: input.shard, change: input.id });
  writes.setState(SERVER_TOOLS, input.key, { isObserved: true, obstacle, tools });
}

function writeTool(writes: WriteSet, { tool, sequence }: StoredTool, now: Date): void {
  const { name, server } = tool;
  const { alias: _alias, ...view } = viewOf(tool);
  writes.put(TOOL, { name, server, status: view.status, sequence, tool: JSON.stringify(tool), updated_at: now });
  writes.emit({ name: 'tool.updated', key: name, tenant: PLATFORM_TENANT, data: { server, ...view }, sequence });
}
