import type { StateStore } from '@lineclear/messaging';
import type { Tool } from '../../domain/tool.js';

export interface StoredTool {
  readonly tool: Tool;
  /** counts the changes of this tool that were told on the bus */
  readonly sequence: number;
}

/** A server with all tools ever seen of it: the aggregate of the catalogue's commands. */
export interface ServerTools {
  readonly isObserved: boolean;
  readonly obstacle: string | null;
  readonly tools: ReadonlyMap<string, StoredTool>;
}

export const NO_TOOLS: ServerTools = { isObserved: false, obstacle: null, tools: new Map() };

export const SERVER_TOOLS: StateStore<ServerTools> = {
  name: 'server-tools',
  async load(names, read) {
    const servers = await read.query<{ name: string; obstacle: string | null }>(
      'SELECT name, obstacle FROM server WHERE name = ANY($1::text[])',
      [names],
    );
    const rows = await read.query<{ server: string; tool: string; sequence: number }>(
      'SELECT server, tool, sequence FROM tool WHERE server = ANY($1::text[])',
      [names],
    );
    return new Map(
      servers.map(({ name, obstacle }) => {
        const tools = rows.filter(({ server }) => server === name).map(storedTool);
        return [name, { isObserved: true, obstacle, tools: new Map(tools.map((each) => [each.tool.name, each])) }];
      }),
    );
  },
};

function storedTool({ tool, sequence }: { readonly tool: string; readonly sequence: number }): StoredTool {
  return { tool: JSON.parse(tool) as Tool, sequence };
}
