import { type ChildProcess, spawn } from 'node:child_process';
import { ROOT } from './root.js';

export interface StartedBatch {
  readonly child: ChildProcess;
  /** resolves when the platform serves, so that the batch begins; never when it ends before */
  readonly serving: Promise<void>;
  /** exit code and signal, with what was printed */
  readonly ended: Promise<{ code: number | null; signal: NodeJS.Signals | null; stdout: string; stderr: string }>;
}

/** `npm start -- ARGS` without npm in between: the built start on this Node, on a data folder of its own. */
export function startBatch(args: readonly string[], environment: Readonly<Record<string, string>>): StartedBatch {
  const child = spawn(
    process.execPath,
    ['--no-turbo-inline-js-wasm-calls', 'examples/invoice-processing/dist/src/start.js', ...args],
    {
      cwd: ROOT,
      env: { ...process.env, CI: '', LINECLEAR_PORT: '0', LOG_LEVEL: 'warn', ...environment },
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  );
  let stdout = '';
  let stderr = '';
  child.stdout?.on('data', (chunk: Buffer) => (stdout += chunk.toString('utf8')));
  const serving = Promise.withResolvers<void>();
  child.stderr?.on('data', (chunk: Buffer) => {
    stderr += chunk.toString('utf8');
    if (stderr.includes('the platform serves')) serving.resolve();
  });
  const ended = new Promise<Awaited<StartedBatch['ended']>>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) => resolve({ code, signal, stdout, stderr }));
  });
  return { child, serving: serving.promise, ended };
}
