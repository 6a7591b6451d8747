import { type ChildProcess, spawn } from 'node:child_process';
import type { Socket } from 'node:net';
import type { Readable, Writable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';

/**
 * The server is the child of a shell that leads a session and process group of its own. Its helper reads fd 3, whose other end only this process
 * holds: it ends when we close it or die, even by `kill -9`, and then the whole group is killed, whatever the server does with its stdin. The text
 * is fixed and the command comes as arguments, so nothing of a configuration is read as shell.
 */
const SCRIPT = `
exec 4<&0
"$@" <&4 3<&- 4<&- &
server=$!
exec 4<&- </dev/null >/dev/null
trap : TERM
{ trap '' TERM; read -r _ <&3; kill -KILL 0; } 2>/dev/null &
code=
while [ -z "$code" ] || kill -0 $server 2>/dev/null; do wait $server; code=$?; done
echo $code >&3
kill -KILL 0
`;

const STDIN_GRACE_MS = 1_500;
const TERM_GRACE_MS = 500;
const STDERR_KEPT = 2_000;

export interface ProcessOptions {
  readonly command: readonly [string, ...string[]];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
}

/** A program that cannot outlive this process, and takes its own children with it. */
export class GuardedProcess {
  /** Resolves with the exit code of the program, undefined when it was killed together with its guard. */
  readonly exited: Promise<number | undefined>;
  readonly #child: ChildProcess;
  #stderr = '';
  #isOver = false;

  constructor({ command, cwd, env }: ProcessOptions) {
    this.#child = spawn('/bin/sh', ['-c', SCRIPT, 'lineclear-guard', ...command], {
      cwd,
      env: { ...env },
      detached: true,
      stdio: ['pipe', 'pipe', 'pipe', 'pipe'],
    });
    let code = '';
    this.#lifeline.on('data', (chunk: Buffer) => (code += chunk.toString('latin1')));
    for (const stream of this.#child.stdio) stream?.on('error', () => undefined);
    this.#child.stderr?.on('data', (chunk: Buffer) => {
      this.#stderr = (this.#stderr + chunk.toString('utf8')).slice(-STDERR_KEPT);
    });
    this.exited = new Promise((resolve) => {
      this.#child.once('error', () => resolve(undefined));
      this.#child.once('exit', () => {
        this.#signalGroup('SIGKILL');
        this.#isOver = true;
        // what the guard said last may still be on its way
        if (this.#lifeline.readableEnded || this.#lifeline.destroyed) resolve(codeOf(code));
        else this.#lifeline.once('close', () => resolve(codeOf(code)));
      });
    });
  }

  /** Of the guard, which leads the process group. */
  get pid(): number | undefined {
    return this.#child.pid;
  }

  get stdin(): Writable {
    return streamOf(this.#child.stdin);
  }

  get stdout(): Readable {
    return streamOf(this.#child.stdout);
  }

  /** The end of what it printed on stderr. */
  get lastWords(): string {
    return this.#stderr.trim();
  }

  /** End of its input first, then SIGTERM, then SIGKILL to all that is left of the group. */
  async stop(): Promise<void> {
    if (this.#isOver) return;
    this.stdin.end();
    if (await this.#isOverWithin(STDIN_GRACE_MS)) return;
    this.#signalGroup('SIGTERM');
    if (await this.#isOverWithin(TERM_GRACE_MS)) return;
    this.kill();
    await this.exited;
  }

  kill(): void {
    this.#signalGroup('SIGKILL');
    this.#lifeline.destroy();
  }

  async #isOverWithin(waitMs: number): Promise<boolean> {
    const abort = new AbortController();
    const timer = delay(waitMs, false, { signal: abort.signal }).catch(() => false);
    const isOver = await Promise.race([this.exited.then(() => true), timer]);
    abort.abort();
    return isOver;
  }

  get #lifeline(): Socket {
    return streamOf(this.#child.stdio[3]) as Socket;
  }

  /** The group outlives its guard when somebody killed the guard alone. CAUTION: never after the end, when its number may be another's. */
  #signalGroup(signal: NodeJS.Signals): void {
    if (this.#isOver || this.#child.pid === undefined) return;
    try {
      process.kill(-this.#child.pid, signal);
    } catch {
      return;
    }
  }
}

function codeOf(text: string): number | undefined {
  const code = Number.parseInt(text, 10);
  return Number.isNaN(code) ? undefined : code;
}

function streamOf<T>(stream: T | null | undefined): T {
  if (stream === null || stream === undefined) throw new Error('the child has no such stream');
  return stream;
}
