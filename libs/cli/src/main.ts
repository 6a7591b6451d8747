import { runCli } from './cli.js';

const ending = new AbortController();
process.on('SIGINT', () => ending.abort());
process.on('SIGTERM', () => ending.abort());
// A reader that goes away (`| head`) ends the command quietly.
process.stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : 1));

process.exitCode = await runCli(process.argv.slice(2), {
  environment: process.env,
  stdout: process.stdout,
  stderr: process.stderr,
  signal: ending.signal,
});
