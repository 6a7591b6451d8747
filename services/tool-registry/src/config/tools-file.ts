import { parseLocatedConfigFile } from '@lineclear/config-file';
import type { ToolTraits } from '@lineclear/contracts';
import { ConfigError, type ConfigFault } from '@lineclear/errors';
import { z } from 'zod';
import { Secret } from './secret.js';

/** Server names hold no underscore, so that `<server>_<tool>` can be taken apart in one way only. */
const serverName = z.string().regex(/^[a-z][a-z0-9-]{0,30}$/);
const sha256 = z.string().regex(/^[0-9a-f]{64}$/);

const toolSchema = z.strictObject({
  write: z.boolean().default(true),
  repeatable: z.boolean().default(false),
  leavesSystem: z.boolean().default(false),
  key: z.enum(['honoured', 'none']).default('none'),
  /** an argument that carries the idempotency key too: the registry fills it, the model never sees it */
  keyArgument: z.string().min(1).optional(),
  businessKey: z.array(z.string().min(1)).min(1).optional(),
  timeoutMs: z.int().min(1).max(3_600_000).default(30_000),
  unknownWaitMs: z.int().min(0).max(86_400_000).default(30_000),
});

const serverSchema = z.strictObject({
  command: z.array(z.string().min(1)).min(1).optional(),
  url: z.string().optional(),
  era: z.enum(['auto', 'modern', 'legacy']).default('auto'),
  env: z
    .record(
      z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/),
      z.union([z.string(), z.strictObject({ secret: z.string().regex(/^env:[A-Za-z_][A-Za-z0-9_]*$/) })]),
    )
    .default({}),
  pin: z.union([z.literal('accept-first'), z.record(z.string(), sha256)]).default('accept-first'),
  startTimeoutMs: z.int().min(100).max(600_000).default(20_000),
  tools: z.record(z.string(), toolSchema).default({}),
});

const toolsFileSchema = z.strictObject({ servers: z.record(serverName, serverSchema) });

/** `accept-first`: the first definition seen is the pinned one; else the SHA-256 of each tool that may be used. */
export type PinRule = 'accept-first' | Readonly<Record<string, string>>;

export interface ToolConfig {
  readonly traits: ToolTraits;
  readonly keyArgument: string | undefined;
}

export interface ServerConfig {
  readonly name: string;
  readonly command: readonly [string, ...string[]];
  readonly era: 'auto' | 'modern' | 'legacy';
  readonly env: Readonly<Record<string, string | Secret>>;
  readonly pin: PinRule;
  readonly startTimeoutMs: number;
  readonly tools: Readonly<Record<string, ToolConfig>>;
}

/** What is assumed of a tool that tools.yaml does not describe: the worst. */
export const UNDESCRIBED: ToolConfig = {
  traits: {
    write: true,
    repeatable: false,
    leavesSystem: true,
    key: 'none',
    timeoutMs: 30_000,
    unknownWaitMs: 30_000,
  },
  keyArgument: undefined,
};

type Environment = Readonly<Record<string, string | undefined>>;
type ServerFile = z.output<typeof serverSchema>;
type Located = ReturnType<typeof parseLocatedConfigFile<typeof toolsFileSchema>>;

/**
 * Reads tools.yaml; `${NAME}` in `env` and `{secret: env:NAME}` come from the environment.
 * @throws ConfigError with line and column of every fault
 */
export function parseToolsFile(text: string, file: string, environment: Environment): readonly ServerConfig[] {
  const located = parseLocatedConfigFile(text, { file, schema: toolsFileSchema });
  const faults: ConfigFault[] = [];
  const servers = Object.entries(located.value.servers).map(([name, server]) =>
    serverConfig(name, server, { located, environment, faults }),
  );
  const [first, ...rest] = faults;
  if (first) throw new ConfigError([first, ...rest]);
  return servers.toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

interface Reading {
  readonly located: Located;
  readonly environment: Environment;
  readonly faults: ConfigFault[];
}

function serverConfig(name: string, server: ServerFile, reading: Reading): ServerConfig {
  const { located, faults } = reading;
  const path = ['servers', name];
  if (server.url !== undefined)
    faults.push(
      located.faultAt(
        path,
        {
          what: `server \`${name}\` is reached by \`url\`, which comes with a later release`,
          expected: '`command`, a program that speaks MCP on stdio',
          next: 'remove the server, or start it by `command`',
        },
        'url',
      ),
    );
  else if (server.command === undefined)
    faults.push(
      located.faultAt(path, {
        what: `server \`${name}\` has no \`command\``,
        expected: 'a list: the program and its arguments',
        next: 'add it',
      }),
    );
  const [program = '', ...args] = server.command ?? [];
  return {
    name,
    command: [program, ...args],
    era: server.era,
    env: environmentOf(name, server, reading),
    pin: server.pin,
    startTimeoutMs: server.startTimeoutMs,
    tools: toolsOf(name, server, reading),
  };
}

function environmentOf(name: string, server: ServerFile, { located, environment, faults }: Reading) {
  const env: Record<string, string | Secret> = {};
  for (const [variable, value] of Object.entries(server.env)) {
    const lookUp = (wanted: string): string => {
      const found = environment[wanted];
      if (found === undefined)
        faults.push(
          located.faultAt(['servers', name, 'env', variable], {
            what: `environment variable \`${wanted}\` is not set`,
            expected: `a value for \`${variable}\` of server \`${name}\``,
            next: 'set it',
          }),
        );
      return found ?? '';
    };
    env[variable] =
      typeof value === 'string'
        ? value.replaceAll(/\$\{([A-Za-z_][A-Za-z0-9_]*)\}/g, (_, wanted: string) => lookUp(wanted))
        : new Secret(lookUp(value.secret.slice('env:'.length)));
  }
  return env;
}

function toolsOf(name: string, server: ServerFile, { located, faults }: Reading) {
  const tools: Record<string, ToolConfig> = Object.create(null);
  for (const [tool, { keyArgument, businessKey, ...traits }] of Object.entries(server.tools)) {
    const refuse = (key: string, what: string) =>
      faults.push(located.faultAt(['servers', name, 'tools', tool], { what, next: 'correct or remove it' }, key));
    if (keyArgument !== undefined && traits.key !== 'honoured')
      refuse('keyArgument', 'an argument that carries the key needs `key: honoured`');
    if (businessKey !== undefined && !traits.write)
      refuse('businessKey', 'a tool with `write: false` has no business key');
    tools[tool] = { traits: businessKey === undefined ? traits : { ...traits, businessKey }, keyArgument };
  }
  return tools;
}
