import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';

/** Source files name their neighbours with `.js`, as TypeScript wants; Node finds only `.ts`. */
const HOOK = `import { registerHooks } from 'node:module';
registerHooks({ resolve(specifier, context, next) {
  try { return next(specifier, context); } catch (error) {
    if (!specifier.endsWith('.js')) throw error;
    return next(specifier.slice(0, -3) + '.ts', context);
  }
} });`;

export interface TypeScriptProcess {
  readonly pid: number;
  /** The next line of standard output. @throws Error when the process ends before it writes one */
  nextLine(): Promise<string>;
  /** Ends it without giving it a chance to clean up. */
  kill(): Promise<void>;
}

/**
 * Runs a TypeScript file of the sources in a process of its own, without a build, for tests that kill it. Decorators do not work there.
 * @param file a file URL, such as `new URL('./victim.ts', import.meta.url)`
 */
export function startTypeScript(
  file: URL,
  args: readonly string[] = [],
  env: Readonly<Record<string, string>> = {},
): TypeScriptProcess {
  const flags = ['--conditions=@lineclear/source', '--experimental-transform-types', '--no-warnings'];
  const hook = `data:text/javascript,${encodeURIComponent(HOOK)}`;
  const child = spawn(process.execPath, [...flags, '--import', hook, file.pathname, ...args], {
    env: { ...process.env, NODE_OPTIONS: '', ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  process.once('exit', () => child.kill('SIGKILL'));
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    pid: child.pid ?? 0,
    async nextLine() {
      const line = await lines.next();
      if (line.done === true) throw new Error(`${file.pathname} ended before it wrote a line`);
      return line.value;
    },
    kill: () => killed(child),
  };
}

async function killed(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill('SIGKILL');
  await once(child, 'exit');
}
