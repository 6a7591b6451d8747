import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { eventually, startTypeScript } from '@lineclear/test-kit';
import { afterEach, describe, expect, it } from 'vitest';
import { GuardedProcess } from './guarded-process.js';

const STUBBORN = fileURLToPath(new URL('../../testing/stubborn.mjs', import.meta.url));
const OWNER = new URL('../../testing/guarded-owner.ts', import.meta.url);
const started: GuardedProcess[] = [];

function guarded(...args: string[]): GuardedProcess {
  const child = new GuardedProcess({ command: [process.execPath, ...args], cwd: '/', env: { MARK: 'yes' } });
  started.push(child);
  return child;
}

afterEach(async () => {
  await Promise.all(started.splice(0).map((child) => child.stop()));
});

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

const pidsIn = (text: string): number[] => text.trim().split(/\s+/).map(Number);

async function firstOutput(child: GuardedProcess): Promise<string> {
  const [chunk] = (await once(child.stdout, 'data')) as [Buffer];
  return chunk.toString();
}

describe('a guarded process', () => {
  it('gets its arguments as they are, its environment and nothing else', async () => {
    const code =
      'console.log(JSON.stringify([process.argv.slice(1), Object.keys(process.env).filter((k) => !/^(PWD|OLDPWD|SHLVL|_)$/.test(k))]))';
    const child = guarded('-e', code, '$(touch /tmp/x)', '; exit', "'", '*');
    expect(JSON.parse(await firstOutput(child))).toEqual([['$(touch /tmp/x)', '; exit', "'", '*'], ['MARK']]);
  });

  it('passes input and output on, and ends with its input', async () => {
    const child = guarded('-e', 'process.stdin.pipe(process.stdout)');
    child.stdin.write('hello');
    expect(await firstOutput(child)).toBe('hello');
    await child.stop();
    expect(await child.exited).toBe(0);
  });

  it('tells the exit code and the last words', async () => {
    const child = guarded('-e', 'console.error("no ledger"); process.exitCode = 78');
    expect(await child.exited).toBe(78);
    expect(child.lastWords).toBe('no ledger');
  });

  it('tells that the program does not exist', async () => {
    const child = new GuardedProcess({ command: ['/nowhere/server'], cwd: '/', env: {} });
    expect(await child.exited).toBe(127);
    expect(child.lastWords).toMatch(/not found|No such file/);
  });

  it('is gone with its children after a stop that it ignores', async () => {
    const child = guarded(STUBBORN);
    const pids = pidsIn(await firstOutput(child));
    expect(pids.every(isAlive)).toBe(true);
    await child.stop();
    await eventually(() => !pids.some(isAlive));
  });

  it('is gone with its children when its owner is killed', async () => {
    const owner = startTypeScript(OWNER, [STUBBORN]);
    const pids = pidsIn(await owner.nextLine());
    expect(pids).toHaveLength(3);
    expect(pids.every(isAlive)).toBe(true);
    await owner.kill();
    await eventually(() => !pids.some(isAlive));
  });

  it('is gone when somebody kills its guard', async () => {
    const child = guarded(STUBBORN);
    const pids = pidsIn(await firstOutput(child));
    process.kill(child.pid ?? 0, 'SIGKILL');
    expect(await child.exited).toBeUndefined();
    await eventually(() => !pids.some(isAlive));
  });
});
