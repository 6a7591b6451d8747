import type { Client } from '@modelcontextprotocol/client';
import type { ListedTool } from '../../domain/definition.js';

const MAX_PAGES = 64;
const MAX_TOOLS = 1_000;

/**
 * Every tool of a server, or an error: a part is never given as the whole. An empty cursor is a cursor; one that comes again, and a list without end,
 * are faults of the server.
 */
export async function listTools(client: Client, signal: AbortSignal): Promise<readonly ListedTool[]> {
  const tools: ListedTool[] = [];
  const cursors = new Set<string>();
  let cursor: string | undefined;
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const params = cursor === undefined ? {} : { cursor };
    const result = await client.request({ method: 'tools/list', params }, { signal });
    tools.push(...result.tools);
    if (tools.length > MAX_TOOLS) throw new Error(`it lists more than ${MAX_TOOLS} tools`);
    if (result.nextCursor === undefined) return tools;
    cursor = result.nextCursor;
    if (cursors.has(cursor)) throw new Error('its list of tools comes back to a page that was read');
    cursors.add(cursor);
  }
  throw new Error(`its list of tools has more than ${MAX_PAGES} pages`);
}
