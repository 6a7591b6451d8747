type Schema = Readonly<Record<string, unknown>>;

const MAX_DEPTH = 64;
const MAX_NODES = 20_000;

/** Dialects whose documents we read by the rules of 2020-12. */
const DIALECTS = /^https?:\/\/json-schema\.org\/(?:draft\/2020-12|draft\/2019-09|draft-0[67])\/schema#?$/;

const REFERENCES = new Set(['$ref', '$dynamicRef', '$recursiveRef']);
/** Keywords whose value maps names to schemas. */
const MAPS = new Set(['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas']);
/** Keywords whose value is data, not schema. */
const DATA = new Set(['const', 'enum', 'default', 'examples', 'required', 'dependentRequired']);

/** Why a schema cannot be used here, or undefined. A reference that leaves the document is never fetched. */
export function unsupportedIn(schema: Schema): string | undefined {
  const dialect = schema['$schema'];
  if (dialect !== undefined && !(typeof dialect === 'string' && DIALECTS.test(dialect)))
    return `unknown dialect \`${JSON.stringify(dialect).slice(0, 100)}\`; expected JSON Schema 2020-12`;
  return faultIn(schema, 0, { nodes: 0 });
}

function faultIn(node: unknown, depth: number, seen: { nodes: number }): string | undefined {
  if (typeof node !== 'object' || node === null) return undefined;
  if (depth > MAX_DEPTH) return `nested deeper than ${MAX_DEPTH} levels`;
  if (++seen.nodes > MAX_NODES) return `more than ${MAX_NODES} parts`;
  const children: unknown[] = Array.isArray(node) ? node : [];
  if (!Array.isArray(node))
    for (const [keyword, value] of Object.entries(node)) {
      if (DATA.has(keyword)) continue;
      if (REFERENCES.has(keyword) && !(typeof value === 'string' && value.startsWith('#')))
        return `reference \`${JSON.stringify(value).slice(0, 100)}\` leaves the document; only local references are followed`;
      if (keyword === '$id' && depth > 0) return 'a nested `$id` is not supported';
      if (keyword === '$async') return '`$async` is not part of JSON Schema';
      if (MAPS.has(keyword) && typeof value === 'object' && value !== null) children.push(...Object.values(value));
      else children.push(value);
    }
  for (const child of children) {
    const fault = faultIn(child, depth + 1, seen);
    if (fault !== undefined) return fault;
  }
  return undefined;
}
