import { ConfigError, type ConfigFault } from '@lineclear/errors';
import type { z } from 'zod';
import { schemaFaults } from './schema-faults.js';
import { type Path, readYamlText } from './yaml-text.js';

export interface ConfigFileOptions<S extends z.ZodType> {
  /** Name of the file as the user knows it; it starts every message. */
  readonly file: string;
  /** Use `z.strictObject` throughout, so that a misspelt key is an error and not a silent default. */
  readonly schema: S;
}

export interface LocatedConfig<T> {
  readonly value: T;
  /**
   * Completes a fault with the place of the value at `path`, for rules that a schema cannot say (a name used twice, an expression that does
   * not compile). `key` points to that key of the mapping instead of the value.
   */
  readonly faultAt: (path: Path, fault: Omit<ConfigFault, 'where' | 'line' | 'column'>, key?: string) => ConfigFault;
}

/**
 * Turns the text of a YAML (or JSON) file into a value of the schema. Pure: the caller reads the file.
 * @throws ConfigError listing every fault as `file:line:column: what; seen …; expected …; next step`
 */
export function parseConfigFile<S extends z.ZodType>(text: string, options: ConfigFileOptions<S>): z.output<S> {
  return parseLocatedConfigFile(text, options).value;
}

/** Like parseConfigFile, for callers that go on checking and want to name places too. */
export function parseLocatedConfigFile<S extends z.ZodType>(
  text: string,
  { file, schema }: ConfigFileOptions<S>,
): LocatedConfig<z.output<S>> {
  const yaml = readYamlText(text, file);
  const result = schema.safeParse(yaml.value);
  if (!result.success) {
    const [first, ...rest] = schemaFaults(yaml, schema, result.error.issues);
    throw new ConfigError(
      first === undefined ? [{ where: file, what: 'the file does not match its schema' }] : [first, ...rest],
    );
  }
  return { value: result.data, faultAt: (path, fault, key) => ({ ...yaml.place(path, key), ...fault }) };
}
