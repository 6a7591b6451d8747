import type { LineclearClient } from '@lineclear/client';
import { InvalidMessageError } from '@lineclear/errors';
import type { Environment } from './connection.js';
import type { Output } from './output.js';

export type OptionValues = Readonly<Record<string, string | boolean | undefined>>;

export interface VerbContext {
  readonly client: LineclearClient;
  readonly environment: Environment;
  readonly output: Output;
  readonly json: boolean;
  readonly signal: AbortSignal;
  /** words after the verb */
  readonly words: readonly string[];
  readonly options: OptionValues;
}

export interface Verb {
  /** as typed: `runs list` */
  readonly name: string;
  /** words and options after the name */
  readonly usage: string;
  readonly what: string;
  /** option names that take a value */
  readonly texts?: readonly string[];
  readonly flags?: readonly string[];
  /** resolves with the exit code; default 0 */
  readonly run: (context: VerbContext) => Promise<number | void>;
}

/** Exit codes. CAUTION: scripts branch on them. */
export const EXIT = { done: 0, failed: 1, usage: 2, unreachable: 3, refused: 4 } as const;

export class UsageError extends InvalidMessageError {
  constructor(message: string) {
    super('invalid-request', message);
  }
}

/** The word at `index`, or a UsageError that says which one is missing. */
export function word(context: VerbContext, index: number, name: string): string {
  const value = context.words[index];
  if (value === undefined) throw new UsageError(`\`${name}\` is missing; see \`lineclear --help\``);
  return value;
}

/** The text of an option, or a UsageError. */
export function required(context: VerbContext, name: string): string {
  const value = context.options[name];
  if (typeof value !== 'string' || value === '')
    throw new UsageError(`\`--${name}\` is missing; see \`lineclear --help\``);
  return value;
}

export function text(context: VerbContext, name: string): string | undefined {
  const value = context.options[name];
  return typeof value === 'string' ? value : undefined;
}
