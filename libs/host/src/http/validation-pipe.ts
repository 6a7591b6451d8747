import { type ArgumentMetadata, Injectable, type PipeTransform } from '@nestjs/common';
import { InvalidMessageError } from '@lineclear/errors';

interface Issue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
  readonly code?: string;
  readonly keys?: readonly string[];
}

const PLACES: Readonly<Record<string, string>> = { body: 'body', query: 'query', param: 'path' };
const MAX_ISSUES = 20;

/**
 * Checks and converts what `@Body({ schema })`, `@Query({ schema })` and `@Param({ schema })` name. Throws InvalidMessageError(`invalid-request`)
 * that says where, what was seen and what was expected; further faults are in `details.issues`.
 */
@Injectable()
export class SchemaValidationPipe implements PipeTransform {
  async transform(value: unknown, metadata: ArgumentMetadata): Promise<unknown> {
    if (metadata.schema === undefined || metadata.type === 'custom') return value;
    const result = await metadata.schema['~standard'].validate(value);
    if (result.issues === undefined) return result.value;
    const place = PLACES[metadata.type] ?? metadata.type;
    throw refusal(metadata.data === undefined ? place : `${place} \`${metadata.data}\``, value, result.issues);
  }
}

function refusal(place: string, value: unknown, issues: readonly Issue[]): InvalidMessageError {
  const faults = issues.slice(0, MAX_ISSUES).map((issue) => {
    const path = (issue.path ?? []).map((segment) => (typeof segment === 'object' ? segment.key : segment));
    return {
      where: [place, ...path.map(String)].join('.'),
      seen: shown(at(value, path)),
      expected: expectation(issue),
    };
  });
  const [first] = faults;
  const more = issues.length > 1 ? ` (and ${issues.length - 1} more)` : '';
  return new InvalidMessageError('invalid-request', `${first?.where}: ${first?.expected}, seen ${first?.seen}${more}`, {
    details: { ...first, issues: faults },
  });
}

function expectation(issue: Issue): string {
  const message = issue.message.replace(/^Invalid input: /, '').replace(/, received .*$/, '');
  return message.charAt(0).toLowerCase() + message.slice(1);
}

function at(value: unknown, path: readonly PropertyKey[]): unknown {
  let current = value;
  for (const key of path) {
    if (typeof current !== 'object' || current === null || !Object.hasOwn(current, key)) return undefined;
    current = (current as Record<PropertyKey, unknown>)[key];
  }
  return current;
}

/** CAUTION: shows values as they came; a route that takes a secret must not name it in a schema with a format. */
function shown(value: unknown): string {
  if (value === undefined) return 'nothing';
  const text = JSON.stringify(value) ?? typeof value;
  return text.length > 80 ? `${text.slice(0, 77)}...` : text;
}
