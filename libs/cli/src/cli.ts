import { parseArgs } from 'node:util';
import { LineclearClient } from '@lineclear/client';
import { AppError, toFailure } from '@lineclear/errors';
import { connectionOf, type Environment } from './connection.js';
import { cell, createOutput, type Output } from './output.js';
import { EXIT, type OptionValues, UsageError, type Verb } from './verb.js';
import { approvalVerbs } from './verbs/approvals.js';
import { inspectVerbs } from './verbs/inspect.js';
import { localVerbs } from './verbs/local.js';
import { runVerbs } from './verbs/runs.js';
import { toolVerbs } from './verbs/tools.js';

export const VERBS: readonly Verb[] = [...runVerbs, ...approvalVerbs, ...toolVerbs, ...inspectVerbs, ...localVerbs];

export interface CliSurroundings {
  readonly environment: Environment;
  readonly stdout: NodeJS.WritableStream;
  readonly stderr: NodeJS.WritableStream;
  readonly signal: AbortSignal;
}

/** Runs one command line; resolves with its exit code and never throws. */
export async function runCli(args: readonly string[], surroundings: CliSurroundings): Promise<number> {
  const json = args.includes('--json');
  const output = createOutput(json, surroundings);
  try {
    if (args.length === 0 || args.includes('--help') || args.includes('-h')) {
      surroundings.stdout.write(helpText(args));
      return args.length === 0 ? EXIT.usage : EXIT.done;
    }
    return await runVerb(args, json, output, surroundings);
  } catch (error) {
    if (surroundings.signal.aborted) return EXIT.done;
    output.say(json ? JSON.stringify({ error: toFailure(error) }) : `lineclear: ${messageOf(error)}`);
    return exitCodeOf(error);
  }
}

async function runVerb(
  args: readonly string[],
  json: boolean,
  output: Output,
  { environment, signal }: CliSurroundings,
): Promise<number> {
  const verb = findVerb(args);
  const { values, positionals } = parse(args.slice(verb.name.split(' ').length), verb);
  const connection = await connectionOf(environment, {
    tenant: stringOf(values['tenant']),
    url: stringOf(values['url']),
  });
  const client = new LineclearClient(connection);
  const code = await verb.run({ client, environment, output, json, signal, words: positionals, options: values });
  return code ?? EXIT.done;
}

function findVerb(args: readonly string[]): Verb {
  const found = VERBS.filter(({ name }) => name.split(' ').every((part, index) => args[index] === part));
  const longest = found.toSorted((left, right) => right.name.length - left.name.length)[0];
  if (longest !== undefined) return longest;
  const near = VERBS.filter(({ name }) => name.startsWith(`${args[0]} `)).map(({ name }) => `\`${name}\``);
  const hint = near.length > 0 ? `expected one of ${near.join(', ')}` : 'see `lineclear --help`';
  throw new UsageError(`\`${args.slice(0, 2).join(' ')}\` is not a verb; ${hint}`);
}

function parse(args: readonly string[], verb: Verb): { values: OptionValues; positionals: readonly string[] } {
  const options: Record<string, { type: 'string' | 'boolean' }> = {};
  for (const name of [...(verb.texts ?? []), 'tenant', 'url']) options[name] = { type: 'string' };
  for (const name of [...(verb.flags ?? []), 'json']) options[name] = { type: 'boolean' };
  try {
    const { values, positionals } = parseArgs({ args: [...args], allowPositionals: true, options });
    return { values: values as OptionValues, positionals };
  } catch (cause) {
    const seen = cause instanceof Error ? cause.message : String(cause);
    throw new UsageError(`${seen}; usage: lineclear ${verb.name} ${verb.usage}`);
  }
}

const stringOf = (value: string | boolean | undefined): string | undefined =>
  typeof value === 'string' ? value : undefined;

function helpText(args: readonly string[]): string {
  const wanted = args.filter((arg) => !arg.startsWith('-')).join(' ');
  const verbs = VERBS.filter(({ name }) => name.startsWith(wanted) || wanted.startsWith(name));
  const lines = (verbs.length > 0 ? verbs : VERBS).map(
    ({ name, usage, what }) => `  ${`${name} ${usage}`.trimEnd()}\n      ${what}`,
  );
  return `lineclear VERB [--json] [--tenant TENANT] [--url URL]

${lines.join('\n')}

The platform is the one at LINECLEAR_URL, else the one that runs on the data folder LINECLEAR_HOME (.lineclear). The token is
LINECLEAR_TOKEN, else one of that folder's development issuer. Exit: 0 done, 1 failed or not as expected, 2 usage, 3 not
reachable, 4 refused.
`;
}

/** A message with the facts of a problem: where, what was seen, what is expected, what to do next. */
function messageOf(error: unknown): string {
  const { message, details } = toFailure(error);
  if (!(error instanceof AppError)) return error instanceof Error ? error.message : message;
  const facts = (['where', 'seen', 'expected', 'next'] as const)
    .map((name) => ({ name, text: cell(details[name]) }))
    .filter(({ name, text }) => details[name] !== undefined && !message.includes(text));
  return [message, ...facts.map(({ name, text }) => `  ${name}: ${text}`)].join('\n');
}

function exitCodeOf(error: unknown): number {
  if (error instanceof UsageError) return EXIT.usage;
  switch (toFailure(error).code) {
    case 'unavailable':
    case 'timed-out':
      return EXIT.unreachable;
    case 'refused':
    case 'forbidden':
    case 'unauthorized':
    case 'already-decided':
    case 'already-ended':
    case 'attempt-open':
    case 'payload-mismatch':
      return EXIT.refused;
    case 'bad-config':
      return EXIT.usage;
    default:
      return EXIT.failed;
  }
}
