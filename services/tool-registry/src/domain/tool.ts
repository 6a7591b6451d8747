import type { ToolTraits, ToolView, TOOL_STATUSES } from '@lineclear/contracts';
import { aliasOf } from './alias.js';
import { changedParts, type ToolDefinition } from './definition.js';

export type ToolStatus = (typeof TOOL_STATUSES)[number];

export interface HashedDefinition {
  readonly hash: string;
  readonly definition: ToolDefinition;
}

/** One tool of the catalogue. Only `pinned` is ever offered or called; `seen` is what the server says now, when that is something else. */
export interface Tool {
  /** canonical `server.tool` */
  readonly name: string;
  readonly server: string;
  readonly originalName: string;
  readonly traits: ToolTraits;
  readonly keyArgument: string | null;
  readonly pinned: HashedDefinition | null;
  readonly seen: HashedDefinition | null;
  /** why it cannot be called although nothing is wrong with its pin: server away, not listed, schema not supported */
  readonly obstacle: string | null;
  readonly disabled: { readonly by: string; readonly reason: string } | null;
}

/** What a replica found out about one tool. `pin` is the rule of tools.yaml for it: `accept-first` or the hash it must have (null: none given). */
export interface ToolObservation {
  readonly server: string;
  readonly originalName: string;
  readonly traits: ToolTraits;
  readonly keyArgument: string | null;
  readonly pin: string | null;
  readonly listed: HashedDefinition | null;
  readonly obstacle: string | null;
}

export function toolStatus(tool: Tool): { readonly status: ToolStatus; readonly reason?: string } {
  const { disabled, pinned, seen, obstacle } = tool;
  if (disabled !== null) return { status: 'disabled', reason: disabled.reason };
  if (seen !== null) return { status: 'quarantined', reason: quarantineReason(pinned, seen) };
  if (obstacle !== null) return { status: 'unavailable', reason: obstacle };
  return pinned === null ? { status: 'unavailable', reason: 'it was never seen' } : { status: 'available' };
}

function quarantineReason(pinned: HashedDefinition | null, seen: HashedDefinition): string {
  if (pinned === null) return `its definition ${seen.hash} is not the one that tools.yaml pins`;
  return `its ${changedParts(pinned.definition, seen.definition).join(', ')} changed since it was pinned`;
}

/**
 * The tool after an observation. INVARIANT: a definition other than the pinned one is never taken over without somebody's word: the pin in
 * tools.yaml, `accept-first` for a tool without a pin, or `acceptSeen`.
 */
export function observeTool(tool: Tool | undefined, name: string, observation: ToolObservation): Tool {
  const { pin, listed, ...facts } = observation;
  const before = { pinned: tool?.pinned ?? null, seen: tool?.seen ?? null, disabled: tool?.disabled ?? null };
  return { ...before, ...facts, name, ...(listed === null ? {} : pinAfter(before.pinned, listed, pin)) };
}

function pinAfter(pinned: HashedDefinition | null, listed: HashedDefinition, pin: ToolObservation['pin']) {
  const isAccepted = pin === 'accept-first' ? pinned === null || pinned.hash === listed.hash : pin === listed.hash;
  return isAccepted ? { pinned: listed, seen: null } : { pinned: pin === 'accept-first' ? pinned : null, seen: listed };
}

/** Pins what the server says now. `hash` is the definition that the person was shown; undefined when that is no longer what is seen. */
export function acceptSeen(tool: Tool, hash: string): Tool | undefined {
  return tool.seen?.hash === hash ? { ...tool, pinned: tool.seen, seen: null } : undefined;
}

/** The tool as a run sees it. Never more than the pinned definition: what is quarantined has no words of its own here. */
export function viewOf(tool: Tool): ToolView {
  const { status, reason } = toolStatus(tool);
  return {
    name: tool.name,
    alias: aliasOf(tool.name),
    definitionHash: tool.pinned?.hash ?? '',
    description: tool.pinned?.definition.description ?? '',
    schema: tool.pinned?.definition.inputSchema ?? { type: 'object' },
    traits: tool.traits,
    status,
    ...(reason === undefined ? {} : { reason }),
  };
}

/** A tool as people see it in a list. */
export interface ToolListing {
  readonly name: string;
  readonly server: string;
  readonly originalName: string;
  readonly alias: string;
  readonly definitionHash: string;
  readonly status: ToolStatus;
  readonly reason: string | null;
}

export function listingOf(tool: Tool): ToolListing {
  const { name, alias, definitionHash, status, reason } = viewOf(tool);
  const { server, originalName } = tool;
  return { name, server, originalName, alias, definitionHash, status, reason: reason ?? null };
}
