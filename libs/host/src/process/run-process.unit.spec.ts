import { EventEmitter } from 'node:events';
import { ConfigError } from '@lineclear/errors';
import { describe, expect, it } from 'vitest';
import { type ProcessPort, runProcess, type Stoppable } from './run-process.js';

class FakeProcess extends EventEmitter implements ProcessPort {
  readonly exits: number[] = [];
  exit(code: number): void {
    this.exits.push(code);
  }
}

const forever = new Promise<unknown>(() => undefined);

function run(start: () => Promise<Stoppable>, stopLimitMs?: number) {
  const process = new FakeProcess();
  const said: string[] = [];
  const logged: unknown[] = [];
  const done = runProcess(start, {
    process,
    say: (line) => said.push(line),
    log: (error) => logged.push(error),
    ...(stopLimitMs !== undefined && { stopLimitMs }),
  });
  return { process, said, logged, done };
}

describe('a process', () => {
  it.each(['SIGINT', 'SIGTERM', 'SIGHUP'])('stops cleanly on %s', async (signal) => {
    let stopped = 0;
    const { process, said, done } = run(async () => ({ failed: forever, stop: async () => void (stopped += 1) }));
    process.emit(signal);
    await done;
    expect({ stopped, exits: process.exits, said }).toEqual({
      stopped: 1,
      exits: [0],
      said: [`stopping on ${signal}; once more stops at once`],
    });
  });

  it('ends at once on a second signal', async () => {
    const { process, done } = run(async () => ({ failed: forever, stop: async () => void process.emit('SIGINT') }));
    process.emit('SIGINT');
    await done;
    expect(process.exits[0]).toBe(1);
  });

  it('is cut off when the stop takes too long', async () => {
    let release = (): void => undefined;
    const stop = () => new Promise<void>((resolve) => (release = resolve));
    const { process, done } = run(async () => ({ failed: forever, stop }), 5);
    const cut = new Promise((resolve) => {
      process.exit = (code) => resolve(process.exits.push(code));
    });
    process.emit('SIGTERM');
    await cut;
    release();
    await done;
    expect(process.exits[0]).toBe(1);
  });

  it('says why it did not start, with 2 for a configuration to correct', async () => {
    const fault = new ConfigError([{ where: 'LINECLEAR_PORT', what: 'port 80 is taken' }], { code: 'address-in-use' });
    const config = run(() => Promise.reject(fault));
    await config.done;
    expect([config.process.exits, config.said]).toEqual([[2], ['not started: LINECLEAR_PORT: port 80 is taken']]);
    const bug = run(() => Promise.reject(new TypeError('x')));
    await bug.done;
    expect([bug.process.exits, bug.logged]).toEqual([[1], [expect.any(TypeError)]]);
  });

  it('stops and ends with 1 when it cannot go on', async () => {
    let stopped = 0;
    const failed = Promise.resolve(new Error('PostgreSQL is gone'));
    const { process, said, done } = run(async () => ({ failed, stop: async () => void (stopped += 1) }));
    await done;
    expect([stopped, process.exits, said]).toEqual([1, [1], ['cannot go on: PostgreSQL is gone']]);
  });

  it.each(['unhandledRejection', 'uncaughtException'])('ends with 1 on %s', async (event) => {
    const { process, logged } = run(async () => ({ failed: forever, stop: async () => undefined }));
    process.emit(event, new Error('bug'));
    expect([process.exits, logged]).toEqual([[1], [expect.any(Error)]]);
  });
});
