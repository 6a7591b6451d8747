import { fileURLToPath } from 'node:url';
import { AppError, toFailure } from '@lineclear/errors';
import { parseStartOptions, START_HELP } from './options.js';
import { runDemo } from './demo.js';

const exampleDir = fileURLToPath(new URL('../../', import.meta.url));
const ending = new AbortController();
const end = (why: string) => () => ending.abort(why);

process.on('SIGINT', end('interrupted'));
process.on('SIGTERM', end('terminated'));
process.on('SIGHUP', end('the terminal is gone'));
// The bootstrap's channel, or the reader of our output, is gone: end as on a signal, so that nothing is left behind.
process.on('disconnect', end('the parent process is gone'));
process.stdout.on('error', end('nobody reads the output'));
process.stderr.on('error', end('nobody reads the messages'));

const options = readOptions();
if (options !== undefined)
  process.exitCode = await runDemo({ exampleDir, options, environment: process.env, signal: ending.signal });
// Whatever a library left open must not keep a finished start alive.
process.exit();

function readOptions() {
  try {
    const parsed = parseStartOptions(process.argv.slice(2), {
      stdinIsTerminal: process.stdin.isTTY,
      stdoutIsTerminal: process.stdout.isTTY,
      ci: process.env['CI'] !== undefined && process.env['CI'] !== '',
    });
    if (parsed !== 'help') return parsed;
    process.stdout.write(START_HELP);
  } catch (error) {
    process.stderr.write(`lineclear: ${error instanceof AppError ? error.message : toFailure(error).message}\n`);
    process.exitCode = 2;
  }
  return undefined;
}
