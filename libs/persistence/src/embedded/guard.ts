import { type ChildProcess, spawn } from 'node:child_process';
import type { Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { isAlive } from './postmaster-file.js';
import { SERVER_ENV } from './run.js';
import type { ServerUser } from './server-user.js';

/**
 * The server is the child of a shell in a session of its own, so that Ctrl-C does not reach it. The shell's helper reads a pipe (fd 3) whose
 * other end only this process holds: the pipe ends when we release it or die, even by `kill -9`, and then the helper stops the server.
 * $1 signal to stop with, $2 folder to remove after such a stop, or empty (its content by relative names too, since the shell's user may not
 * be able to enter the path), then the program and its arguments.
 */
const SCRIPT = `
signal=$1; trash=$2; shift 2
released=
trap released=1 USR1
"$@" </dev/null 3<&- &
server=$!
{
  read -r _ <&3
  kill -s USR1 $$
  kill -s "$signal" $server
  n=0
  while kill -0 $server && [ $n -lt 100 ]; do sleep 0.1; n=$((n+1)); done
  kill -s QUIT $server && sleep 2 && kill -s KILL $server
} 2>/dev/null &
helper=$!
exec 3<&-
wait $server
code=$?
while kill -0 $server 2>/dev/null; do wait $server; code=$?; done
kill $helper 2>/dev/null
[ -z "$released" ] || [ -z "$trash" ] || rm -rf -- "$trash" ../postgres.log ../data 2>/dev/null
exit $code
`;

export interface GuardOptions {
  readonly program: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly user: ServerUser;
  /** Descriptor that gets the server's output. */
  readonly logFd: number;
  /** For PostgreSQL INT ends sessions and writes a checkpoint, QUIT ends at once and leaves the rest to recovery. After 10 s it gets harder. */
  readonly stopSignal: 'INT' | 'QUIT' | 'TERM';
  /** Folder that goes when we release the server or die; not when the server ends by itself. */
  readonly removeAtEnd?: string | undefined;
}

/** A server (any program that stays in the foreground) that cannot outlive this process. */
export class Guard {
  /** Resolves when the guard is gone; the server too, unless somebody killed the guard (see `stopped`). */
  readonly exited: Promise<void>;
  readonly #child: ChildProcess;
  #isOver = false;

  constructor(options: GuardOptions) {
    const args = [
      '-c',
      SCRIPT,
      'lineclear-guard',
      options.stopSignal,
      options.removeAtEnd ?? '',
      options.program,
      ...options.args,
    ];
    this.#child = spawn('/bin/sh', args, {
      cwd: options.cwd,
      env: SERVER_ENV,
      detached: true,
      stdio: ['ignore', options.logFd, options.logFd, 'pipe'],
      ...options.user,
    });
    this.#child.unref();
    this.#pipe?.on('error', () => undefined);
    this.#pipe?.unref();
    this.exited = new Promise((resolve) => {
      const over = () => {
        this.#isOver = true;
        resolve();
      };
      this.#child.once('exit', over);
      this.#child.once('error', over);
    });
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /** Asks the server to stop, by the same way that our death would take; from now on the guard keeps this process alive. */
  release(): void {
    this.#child.ref();
    this.#pipe?.destroy();
  }

  /** Resolves when the server process itself is gone, also after somebody killed the guard. */
  async stopped(serverPid: number | undefined): Promise<void> {
    await this.exited;
    this.release();
    while (serverPid !== undefined && isAlive(serverPid)) await delay(20);
  }

  get #pipe(): Socket | undefined {
    return (this.#child.stdio[3] as Socket | null | undefined) ?? undefined;
  }
}
