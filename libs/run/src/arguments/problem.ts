import type { ErrorObject } from 'ajv/dist/2020.js';
import { nearest } from './nearest.js';

/** One thing wrong with arguments, in words that a model can act on. `path` is a JSON pointer. */
export interface Problem {
  readonly path: string;
  readonly text: string;
}

const MAX_PROBLEMS = 10;

/** Every problem of one value, in the order found, at most ten. */
export function problemsOf(errors: readonly ErrorObject[]): Problem[] {
  const unions = errors.filter((error) => error.keyword === 'anyOf' || error.keyword === 'oneOf');
  const summed = unions.filter((error) => unionOf(error) !== undefined);
  const kept = errors.filter((error) => {
    if (unions.includes(error))
      return summed.includes(error) || (error.keyword === 'oneOf' && !hasInner(errors, error));
    return !summed.some((union) => error.instancePath.startsWith(union.instancePath) && isInner(error, union));
  });
  const problems = kept.map((error) => ({ path: pathOf(error), text: textOf(error) }));
  if (problems.length <= MAX_PROBLEMS) return problems;
  const more = problems.length - MAX_PROBLEMS;
  return [...problems.slice(0, MAX_PROBLEMS), { path: '', text: `and ${more} more` }];
}

const isInner = (error: ErrorObject, union: ErrorObject): boolean =>
  error.schemaPath.startsWith(`${union.schemaPath}/`);
const hasInner = (errors: readonly ErrorObject[], union: ErrorObject): boolean =>
  errors.some((error) => error !== union && isInner(error, union));

function pathOf({ instancePath, keyword, params }: ErrorObject): string {
  const { missingProperty, additionalProperty, unevaluatedProperty } = params as Record<string, string>;
  const name = keyword === 'required' ? missingProperty : (additionalProperty ?? unevaluatedProperty);
  return name === undefined ? instancePath : `${instancePath}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`;
}

function textOf(error: ErrorObject): string {
  const name = `\`${readable(pathOf(error))}\``;
  const seen = `seen ${shown(error.data)}`;
  const params = error.params as Record<string, unknown>;
  switch (error.keyword) {
    case 'required':
      return `${name} is missing${expectation(propertyOf(error.parentSchema, String(params['missingProperty'])))}`;
    case 'additionalProperties':
    case 'unevaluatedProperties':
      return `${name} is not an argument of this tool${suggestion(error)}`;
    case 'type':
      return `${name}: expected ${typeNames(params['type'])}, ${seen}`;
    case 'enum':
      return `${name}: expected one of ${list(params['allowedValues'])}, ${seen}`;
    case 'const':
      return `${name}: expected ${shown(params['allowedValue'])}, ${seen}`;
    case 'pattern':
      return `${name}: expected text that matches \`${String(params['pattern'])}\`, ${seen}`;
    case 'format':
      return `${name}: expected ${String(params['format'])}, ${seen}`;
    case 'minimum':
    case 'maximum':
    case 'exclusiveMinimum':
    case 'exclusiveMaximum':
      return `${name}: expected a number ${String(params['comparison'])} ${String(params['limit'])}, ${seen}`;
    case 'anyOf':
    case 'oneOf':
      return `${name}: expected ${unionOf(error) ?? 'exactly one of the allowed forms'}, ${seen}`;
    default:
      return `${name}: ${error.message ?? `breaks \`${error.keyword}\``}, ${seen}`;
  }
}

/** `/lines/0/qty` as `lines[0].qty`; the root is `arguments`. */
function readable(pointer: string): string {
  const parts = pointer
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~').slice(0, 60));
  if (parts.length === 0) return 'arguments';
  return parts.map((part, i) => (/^\d+$/.test(part) ? `[${part}]` : i === 0 ? part : `.${part}`)).join('');
}

function shown(value: unknown): string {
  const kind = value === null ? '' : Array.isArray(value) ? 'array ' : `${typeof value} `;
  const text = JSON.stringify(value) ?? String(value);
  return `${kind}\`${text.length > 80 ? `${text.slice(0, 80)}…` : text}\``;
}

const typeNames = (type: unknown): string => (Array.isArray(type) ? type.join(' or ') : String(type));

function list(values: unknown): string {
  const all = Array.isArray(values) ? values : [];
  const first = all.slice(0, 12).map((value) => `\`${JSON.stringify(value)}\``);
  return all.length > first.length ? `${first.join(', ')} and ${all.length - first.length} more` : first.join(', ');
}

function propertyOf(schema: unknown, name: string): unknown {
  const properties = isRecord(schema) ? schema['properties'] : undefined;
  return isRecord(properties) && Object.hasOwn(properties, name) ? properties[name] : undefined;
}

function expectation(schema: unknown): string {
  const type = isRecord(schema) ? schema['type'] : undefined;
  return type === undefined ? '' : `; expected ${typeNames(type)}`;
}

function suggestion({ parentSchema, params }: ErrorObject): string {
  const properties = isRecord(parentSchema) && isRecord(parentSchema['properties']) ? parentSchema['properties'] : {};
  const names = Object.keys(properties);
  const { additionalProperty, unevaluatedProperty } = params as Record<string, string>;
  const close = nearest(additionalProperty ?? unevaluatedProperty ?? '', names, 1)[0];
  if (close !== undefined) return `; did you mean \`${close}\`?`;
  return names.length === 0
    ? '; it takes none'
    : `; it takes ${names
        .slice(0, 20)
        .map((name) => `\`${name}\``)
        .join(', ')}`;
}

/** `integer or null` where every branch is a plain type, else undefined: then the problems of the branches say more. */
function unionOf({ schema }: ErrorObject): string | undefined {
  if (!Array.isArray(schema)) return undefined;
  const types = schema.map((branch: unknown) =>
    isRecord(branch) && !isRecord(branch['properties']) ? branch['type'] : undefined,
  );
  return types.every((type) => type !== undefined) ? types.map(typeNames).join(' or ') : undefined;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
