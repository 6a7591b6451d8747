import type { z } from 'zod';
import type { Path } from './yaml-text.js';

type Definition = { readonly type: string } & Readonly<Record<string, unknown>>;
const WRAPPERS: Readonly<Record<string, string>> = {
  optional: 'innerType',
  exactOptional: 'innerType',
  nullable: 'innerType',
  default: 'innerType',
  prefault: 'innerType',
  readonly: 'innerType',
  catch: 'innerType',
  nonoptional: 'innerType',
  pipe: 'in',
};

/** The keys that the schema allows in the mapping at `path`, of all branches of a union, in the order of the schema. */
export function knownKeys(schema: z.ZodType, path: Path): readonly string[] {
  return [...new Set(walk(schema, path))];
}

function walk(schema: unknown, path: Path): readonly string[] {
  const definition = definitionOf(schema);
  if (definition === undefined) return [];
  const wrapped = WRAPPERS[definition.type];
  if (wrapped !== undefined) return walk(definition[wrapped], path);
  const [head, ...rest] = path;
  switch (definition.type) {
    case 'union':
      return (definition.options as readonly unknown[]).flatMap((option) => walk(option, path));
    case 'intersection':
      return [...walk(definition.left, path), ...walk(definition.right, path)];
    case 'lazy':
      return walk((definition.getter as () => unknown)(), path);
    case 'object': {
      const shape = definition.shape as Readonly<Record<string, unknown>>;
      return head === undefined ? Object.keys(shape) : walk(shape[String(head)], rest);
    }
    case 'array':
      return head === undefined ? [] : walk(definition.element, rest);
    case 'record':
      return head === undefined ? [] : walk(definition.valueType, rest);
    default:
      return [];
  }
}

function definitionOf(schema: unknown): Definition | undefined {
  return typeof schema === 'object' && schema !== null && 'def' in schema ? (schema.def as Definition) : undefined;
}
