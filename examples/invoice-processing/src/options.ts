import { parseArgs } from 'node:util';
import { InvalidMessageError } from '@lineclear/errors';

/** Who answers approvals: a person at the terminal, the demo's stand-in, or nobody. */
export type ApproverMode = 'ask' | 'demo' | 'none';

export interface StartOptions {
  readonly once: boolean;
  readonly json: boolean;
  readonly approver: ApproverMode;
  /** undefined: resume the batch that was not finished, else begin a new one */
  readonly batch: string | undefined;
  readonly fresh: boolean;
  /** `provider/model` instead of the agent's own */
  readonly model: string | undefined;
}

export const START_HELP = `npm start [-- OPTION...]: boots the platform and runs the invoice inbox as one batch of tasks

  --once             exit when the batch is done (0 only if every run ended as expected)
  --json             one JSON value per line on stdout: a line per run, a summary at the end
  --approver MODE    ask (at the terminal), demo (a stand-in for the approver), none (approvals stay pending)
  --batch ID         resume or repeat the batch of this id
  --fresh            wipe the data folder first, after asking
  --model P/M        run the agent on this model instead of its own
  --help             this text

Environment: LINECLEAR_HOME (data folder, .lineclear), LINECLEAR_PORT (8420), DATABASE_URL (a PostgreSQL of yours), LOG_LEVEL, NO_COLOR.
`;

interface Surroundings {
  readonly stdinIsTerminal: boolean;
  readonly stdoutIsTerminal: boolean;
  readonly ci: boolean;
}

/** @throws InvalidMessageError(`invalid-request`) naming the option, what was seen and what is expected; exit code 2. */
export function parseStartOptions(args: readonly string[], surroundings: Surroundings): StartOptions | 'help' {
  const values = parse(args);
  if (values.help === true) return 'help';
  const mode = values.approver ?? defaultApprover(values.json === true, surroundings);
  if (mode !== 'ask' && mode !== 'demo' && mode !== 'none') throw usage('--approver', mode, 'ask, demo or none');
  if (mode === 'ask' && !(surroundings.stdinIsTerminal && surroundings.stdoutIsTerminal))
    throw usage('--approver', 'ask', 'a terminal on stdin and stdout, or `--approver demo|none`');
  if (values.batch !== undefined && !/^[a-z0-9][a-z0-9-]{0,40}$/.test(values.batch))
    throw usage('--batch', values.batch, 'up to 41 lower-case letters, digits and dashes');
  return {
    once: values.once ?? false,
    json: values.json ?? false,
    approver: mode,
    batch: values.batch,
    fresh: values.fresh ?? false,
    model: values.model,
  };
}

function defaultApprover(json: boolean, { stdinIsTerminal, stdoutIsTerminal, ci }: Surroundings): ApproverMode {
  return stdinIsTerminal && stdoutIsTerminal && !json && !ci ? 'ask' : 'none';
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      options: {
        once: { type: 'boolean' },
        json: { type: 'boolean' },
        approver: { type: 'string' },
        batch: { type: 'string' },
        fresh: { type: 'boolean' },
        model: { type: 'string' },
        help: { type: 'boolean', short: 'h' },
      },
    }).values;
  } catch (cause) {
    const seen = cause instanceof Error ? cause.message : String(cause);
    throw new InvalidMessageError(
      'invalid-request',
      `the command line is not understood: ${seen}; see \`npm start -- --help\``,
      { cause },
    );
  }
}

function usage(where: string, seen: string, expected: string): InvalidMessageError {
  return new InvalidMessageError(
    'invalid-request',
    `\`${where}\` is \`${seen}\`, expected ${expected}; see \`npm start -- --help\``,
    {
      details: { where, seen, expected },
    },
  );
}
