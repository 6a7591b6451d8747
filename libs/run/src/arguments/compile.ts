import { sha256Hex } from '@lineclear/contracts';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { RE2JS } from 're2js';
import { type Problem, problemsOf } from './problem.js';
import { unsupportedIn } from './schema-support.js';

/** A tool's input schema, compiled: or why it cannot be used. */
export type ArgumentsCheck =
  | { readonly usable: true; readonly check: (value: Readonly<Record<string, unknown>>) => readonly Problem[] }
  | { readonly usable: false; readonly reason: string };

/** Compiled schemas kept in this process; compiling one costs milliseconds. */
const MAX_CACHED = 1000;

/** INVARIANT: patterns of a schema run in linear time, whoever wrote them. An unsupported one makes the schema unusable. */
const linearRegExp = Object.assign((pattern: string) => RE2JS.compile(RE2JS.translateRegExp(pattern)), {
  code: 'linearRegExp',
});

const ajv = addFormats.default(
  new Ajv2020({
    allErrors: true,
    verbose: true,
    strict: false,
    /** own properties only: `constructor` is no argument unless it was sent */
    ownProperties: true,
    coerceTypes: false,
    useDefaults: false,
    addUsedSchema: false,
    logger: false,
    code: { regExp: linearRegExp },
  }),
);

const byContent = new Map<string, ArgumentsCheck>();
const byIdentity = new WeakMap<object, ArgumentsCheck>();

/**
 * Compiles a JSON Schema 2020-12 (local references only, patterns in linear time), once per content. Never throws: an unsupported schema comes back
 * as not usable, with the reason. No value is ever coerced or defaulted. The schema must not be changed afterwards.
 */
export function compileArguments(schema: Readonly<Record<string, unknown>>): ArgumentsCheck {
  const same = byIdentity.get(schema);
  if (same !== undefined) return same;
  const key = sha256Hex(JSON.stringify(schema));
  const compiled = byContent.get(key) ?? compile(schema);
  byContent.delete(key);
  byContent.set(key, compiled);
  if (byContent.size > MAX_CACHED) byContent.delete(byContent.keys().next().value ?? key);
  byIdentity.set(schema, compiled);
  return compiled;
}

function compile(schema: Readonly<Record<string, unknown>>): ArgumentsCheck {
  const unsupported = unsupportedIn(schema);
  if (unsupported !== undefined) return { usable: false, reason: unsupported };
  const { $schema: _dialect, ...rest } = schema;
  // without an id of its own a document cannot refer to itself by `#`
  const document = { ...rest, $id: 'lineclear:arguments' };
  try {
    const validate = ajv.compile(document);
    return {
      usable: true,
      check: (value) => {
        try {
          return validate(value) ? [] : problemsOf(validate.errors ?? []);
        } catch {
          return [{ path: '', text: 'the schema of this tool cannot be evaluated for these arguments' }];
        }
      },
    };
  } catch (error) {
    return { usable: false, reason: error instanceof Error ? error.message : String(error) };
  } finally {
    ajv.removeSchema(document);
  }
}
