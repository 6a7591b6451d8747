import { spawn } from 'node:child_process';
import type { ServerUser } from './server-user.js';

/** Variables of the caller such as PGPORT must not reach the server; messages are matched in English. */
export const SERVER_ENV: Readonly<Record<string, string>> = {
  PATH: process.env.PATH ?? '/usr/bin:/bin',
  LC_ALL: 'C',
  TZ: 'UTC',
};

/** Runs a program to its end. Never rejects: a program that cannot be started has code 127 and the reason as output. */
export function run(
  file: string,
  args: readonly string[],
  options: { readonly cwd: string; readonly user: ServerUser },
): Promise<{ readonly code: number; readonly output: string }> {
  return new Promise((resolve) => {
    let output = '';
    const child = spawn(file, args, {
      cwd: options.cwd,
      env: SERVER_ENV,
      stdio: ['ignore', 'pipe', 'pipe'],
      ...options.user,
    });
    const collect = (chunk: Buffer) => {
      output += chunk.toString();
    };
    child.stdout.on('data', collect);
    child.stderr.on('data', collect);
    child.on('error', (error) => resolve({ code: 127, output: error.message }));
    child.on('close', (code) => resolve({ code: code ?? 1, output }));
  });
}
