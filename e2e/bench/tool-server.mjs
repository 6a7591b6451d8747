// The instant tool of the benchmark: a real MCP server over stdio that does nothing.
import { McpServer } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { z } from 'zod';

serveStdio(() => {
  const server = new McpServer({ name: 'bench', version: '1.0.0' });
  server.registerTool('noop', { description: 'Does nothing.', inputSchema: z.strictObject({ n: z.int() }) }, () => ({ content: [{ type: 'text', text: 'done' }] }));
  return server;
});
