import type { ToolTraits } from '@lineclear/contracts';
import { matchesGlob } from './glob.js';
import type { Condition, Rule } from './rule.js';

/** What is known of a tool when a set is looked at beside the catalog. */
export interface CatalogTool {
  readonly name: string;
  readonly schema: Readonly<Record<string, unknown>>;
  readonly traits: ToolTraits;
}

/** Rules that no tool of the catalog can meet: a glob without a tool, or an argument that none of its tools takes. */
export function catalogWarnings(rules: readonly Rule[], catalog: readonly CatalogTool[]): string[] {
  if (catalog.length === 0) return [];
  return rules.flatMap((rule) => {
    const tools = catalog.filter((tool) => matchesGlob(rule.tool, tool.name));
    if (tools.length === 0) {
      return rule.id.startsWith('built-in.') ? [] : [`rule \`${rule.id}\`: no known tool matches \`${rule.tool}\``];
    }
    return rule.conditions
      .filter((condition) => !tools.some((tool) => takes(tool, condition)))
      .map(({ attribute }) => `rule \`${rule.id}\`: no tool that matches \`${rule.tool}\` takes \`${attribute.name}\``);
  });
}

function takes(tool: CatalogTool, { attribute }: Condition): boolean {
  if (attribute.kind !== 'argument') return true;
  const [name = ''] = attribute.path;
  const { properties, additionalProperties } = tool.schema;
  const isOpen = additionalProperties === true || typeof additionalProperties === 'object';
  return (
    isOpen ||
    properties === undefined ||
    (typeof properties === 'object' && properties !== null && Object.hasOwn(properties, name))
  );
}
