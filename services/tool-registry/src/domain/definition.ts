import { contentHash } from '@lineclear/contracts';

type JsonObject = Readonly<Record<string, unknown>>;

/** What a server says about one tool, as hashed and pinned. The declared key argument is already taken out of the schema. */
export interface ToolDefinition {
  readonly server: string;
  /** as the server spells it */
  readonly name: string;
  readonly title: string | null;
  readonly description: string;
  readonly inputSchema: JsonObject;
  readonly outputSchema: JsonObject | null;
  readonly annotations: JsonObject | null;
}

/** A tool of a list, untrusted. */
export interface ListedTool {
  readonly name: string;
  readonly title?: string | undefined;
  readonly description?: string | undefined;
  readonly inputSchema: JsonObject;
  readonly outputSchema?: JsonObject | undefined;
  readonly annotations?: JsonObject | undefined;
}

const MAX_BYTES = 64 * 1024;
const MAX_DEPTH = 32;
const MAX_NAME = 200;
/** Bidirectional controls, zero-width characters and tags: what a person who reads the definition does not see. */
const CONCEALED = /[\u200B\u200E\u200F\u202A-\u202E\u2060-\u2064\u2066-\u2069\uFEFF\u{E0000}-\u{E007F}]/u;

export const definitionHashOf = (definition: ToolDefinition): string => contentHash(definition);

/** The definition to pin; a key argument is filled by the registry, so the model does not see it and it does not count. */
export function definitionOf(server: string, tool: ListedTool, keyArgument: string | undefined): ToolDefinition {
  return {
    server,
    name: tool.name,
    title: tool.title ?? null,
    description: tool.description ?? '',
    inputSchema: keyArgument === undefined ? tool.inputSchema : withoutArgument(tool.inputSchema, keyArgument),
    outputSchema: tool.outputSchema ?? null,
    annotations: tool.annotations ?? null,
  };
}

/** Why a listed tool cannot be taken in at all, or undefined. Checked before anything walks over it. */
export function definitionFault(tool: ListedTool): string | undefined {
  if (tool.name === '' || tool.name.length > MAX_NAME)
    return `its name has ${tool.name.length} characters, expected 1 to ${MAX_NAME}`;
  if (isDeeper(tool, MAX_DEPTH)) return `its definition is nested deeper than ${MAX_DEPTH} levels`;
  const text = JSON.stringify(tool);
  if (Buffer.byteLength(text) > MAX_BYTES) return `its definition is larger than ${MAX_BYTES} bytes`;
  if (/\\u(?:d[89a-f]|00[01])/i.test(JSON.stringify(tool.name)) || /\\ud[89a-f]/i.test(text))
    return 'its definition has invalid characters';
  const concealed = CONCEALED.exec(text)?.[0].codePointAt(0);
  if (concealed !== undefined)
    return `its definition has the concealed character U+${concealed.toString(16).toUpperCase().padStart(4, '0')}`;
  return undefined;
}

/** Names of the parts that differ, for the person who decides on a change. */
export function changedParts(before: ToolDefinition, after: ToolDefinition): string[] {
  const parts = ['title', 'description', 'inputSchema', 'outputSchema', 'annotations'] as const;
  return parts.filter((part) => contentHash(before[part]) !== contentHash(after[part]));
}

function withoutArgument(schema: JsonObject, argument: string): JsonObject {
  const { properties, required, ...rest } = schema;
  const kept: Record<string, unknown> = { ...rest };
  if (isObject(properties))
    kept['properties'] = Object.fromEntries(Object.entries(properties).filter(([name]) => name !== argument));
  if (Array.isArray(required)) kept['required'] = required.filter((name) => name !== argument);
  return kept;
}

const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return levels === 0 || Object.values(value).some((part) => isDeeper(part, levels - 1));
}
