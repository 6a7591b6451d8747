import { readFile } from 'node:fs/promises';
import { parseLocatedConfigFile } from '@lineclear/config-file';
import type { Principal } from '@lineclear/contracts';
import { ConfigError, type ConfigFault } from '@lineclear/errors';
import { z } from 'zod';
import { NAME } from './name.js';

const name = z.string().regex(NAME);
const producersFile = z.strictObject({
  version: z.literal(1).default(1),
  producers: z.array(
    z.strictObject({
      source: z.string().regex(/^[^*\p{Cc}]+\*?$/u),
      tenant: name,
      subject: name,
      roles: z.array(name),
      scopes: z.array(name).default([]),
    }),
  ),
});

/**
 * Who the tasks of an event source act for. It is as strong as the broker's access rules: whoever may write to the topic may claim a source.
 */
export interface Producers {
  /** The exact entry, else the longest prefix (`/erp/*`) that fits; undefined for a source that nobody vouches for. */
  principalOf(source: string): Principal | undefined;
}

/**
 * Reads a producers.yaml.
 * @throws ConfigError with line and column for an unknown key, a wrong type, a source named twice or a `*` that is not at the end
 */
export async function loadProducers(file: string): Promise<Producers> {
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (cause) {
    throw new ConfigError(
      [
        {
          where: file,
          what: 'the file cannot be read',
          seen: `\`${(cause as NodeJS.ErrnoException).code ?? 'unknown'}\``,
          next: 'correct its name or permissions',
        },
      ],
      { cause },
    );
  }
  return parseProducers(text, file);
}

/** Like loadProducers, for a text that was read already. */
export function parseProducers(text: string, file: string): Producers {
  const { value, faultAt } = parseLocatedConfigFile(text, { file, schema: producersFile });
  const principals = new Map<string, Principal>();
  const twice: ConfigFault[] = [];
  for (const [at, { source, ...principal }] of value.producers.entries()) {
    if (principals.has(source))
      twice.push(
        faultAt(['producers', at, 'source'], { what: `source \`${source}\` is named twice`, next: 'remove one' }),
      );
    principals.set(source, principal);
  }
  const [first, ...rest] = twice;
  if (first !== undefined) throw new ConfigError([first, ...rest]);
  const prefixes = [...principals]
    .filter(([source]) => source.endsWith('*'))
    .map(([source, principal]) => ({ prefix: source.slice(0, -1), principal }))
    .toSorted((left, right) => right.prefix.length - left.prefix.length);
  const exact = new Map([...principals].filter(([source]) => !source.endsWith('*')));
  return {
    principalOf: (source) => exact.get(source) ?? prefixes.find(({ prefix }) => source.startsWith(prefix))?.principal,
  };
}
