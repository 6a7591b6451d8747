import type { ToolObservation } from '../domain/tool.js';

/** Commands of the mailbox, keyed by server. CAUTION: persisted. */
export const SERVER_OBSERVED = 'server.observed';
export const DISABLE_TOOL = 'tool.disable';
export const ENABLE_TOOL = 'tool.enable';
export const ACCEPT_TOOL = 'tool.accept';
export const CATALOGUE_COMMANDS = [SERVER_OBSERVED, DISABLE_TOOL, ENABLE_TOOL, ACCEPT_TOOL] as const;

/** Tenant of what belongs to the installation and to no tenant. */
export const PLATFORM_TENANT = 'platform';

export interface ServerObserved {
  /** why the server gave no list, null: the observations are its whole list */
  readonly obstacle: string | null;
  readonly observations: readonly ToolObservation[];
}

export interface ToolOrder {
  /** canonical name */
  readonly name: string;
  readonly reason: string;
}

export interface AcceptTool extends ToolOrder {
  /** the definition that the person was shown */
  readonly definitionHash: string;
}
