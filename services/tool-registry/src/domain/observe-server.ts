import { compileArguments } from '@lineclear/run';
import { type ServerConfig, type ToolConfig, UNDESCRIBED } from '../config/tools-file.js';
import { definitionFault, definitionHashOf, definitionOf, type ListedTool } from './definition.js';
import type { ToolObservation } from './tool.js';

/** What is known of a server now: its whole list, or why there is none. */
export type ServerSight = { readonly tools: readonly ListedTool[] } | { readonly obstacle: string };

/**
 * One observation for each tool that the server lists or tools.yaml describes. A tool listed twice, one that cannot be read and one whose schema is not
 * supported stay visible with the reason; never one of two, never silently absent.
 */
export function observeServer(server: ServerConfig, sight: ServerSight): ToolObservation[] {
  const listed = 'tools' in sight ? sight.tools : [];
  const absent = 'tools' in sight ? `server \`${server.name}\` does not list it` : sight.obstacle;
  const byName = Map.groupBy(listed, ({ name }) => name);
  const names = new Set([...byName.keys(), ...Object.keys(server.tools)]);
  return [...names].map((name) => observe(server, name, byName.get(name) ?? [], absent));
}

function observe(server: ServerConfig, name: string, listed: readonly ListedTool[], absent: string): ToolObservation {
  const { traits, keyArgument } = configOf(server, name);
  const pin =
    server.pin === 'accept-first' ? server.pin : Object.hasOwn(server.pin, name) ? (server.pin[name] ?? null) : null;
  const base = { server: server.name, originalName: name, traits, keyArgument: keyArgument ?? null, pin };
  const [tool, second] = listed;
  if (tool === undefined) return { ...base, listed: null, obstacle: absent };
  if (second !== undefined)
    return { ...base, listed: null, obstacle: `server \`${server.name}\` lists two tools of this name` };
  const fault = definitionFault(tool);
  if (fault !== undefined) return { ...base, listed: null, obstacle: fault };
  const definition = definitionOf(server.name, tool, keyArgument);
  return { ...base, listed: { hash: definitionHashOf(definition), definition }, obstacle: unusable(tool) };
}

function unusable({ inputSchema, outputSchema }: ListedTool): string | null {
  const input = compileArguments(inputSchema);
  if (!input.usable) return `its input schema cannot be used: ${input.reason}`;
  const output = outputSchema === undefined ? undefined : compileArguments(outputSchema);
  return output === undefined || output.usable ? null : `its output schema cannot be used: ${output.reason}`;
}

function configOf(server: ServerConfig, name: string): ToolConfig {
  return Object.hasOwn(server.tools, name) ? (server.tools[name] ?? UNDESCRIBED) : UNDESCRIBED;
}
