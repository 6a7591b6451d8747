/** One thing wrong with arguments, in words that a model can act on. `path` is a JSON pointer. */
export interface Problem {
  readonly path: string;
  readonly text: string;
}

/** A tool's input schema, compiled: or why it cannot be used. */
export type ArgumentsCheck =
  | { readonly usable: true; readonly check: (value: Readonly<Record<string, unknown>>) => readonly Problem[] }
  | { readonly usable: false; readonly reason: string };

/**
 * Compiles a JSON Schema 2020-12 (local references only, patterns in linear time). `cacheKey` (the definition hash) makes it compile once.
 * Never throws: an unsupported schema comes back as not usable, with the reason. No value is ever coerced.
 */
export function compileArguments(_schema: Readonly<Record<string, unknown>>, _cacheKey?: string): ArgumentsCheck {
  throw new Error('being written');
}
