import type { AgentDefinition } from '@lineclear/contracts';
import { nearestNames } from './nearest-names.js';

/** The agent definitions of a project, by name. */
export class AgentCatalog {
  private readonly byName: ReadonlyMap<string, AgentDefinition>;

  constructor(definitions: readonly AgentDefinition[]) {
    this.byName = new Map(definitions.map((definition) => [definition.agent, definition]));
  }

  find(name: string): AgentDefinition | undefined {
    return this.byName.get(name);
  }

  /** For a message about a name that does not exist. */
  nearest(name: string): string {
    return nearestNames(name, [...this.byName.keys()]);
  }

  get definitions(): readonly AgentDefinition[] {
    return [...this.byName.values()];
  }
}
