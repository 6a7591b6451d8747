import { Controller, Inject, Injectable, Module, UseInterceptors } from '@nestjs/common';
import type { CallHandler, NestInterceptor } from '@nestjs/common';
import { eventually, testDatabase } from '@lineclear/test-kit';
import { afterEach, describe, expect, it } from 'vitest';
import type { LaneBatch, LaneContext } from '../lane/batch.js';
import type { RunningJob } from '../lane/handlers.js';
import type { LaneInput } from '../lane/input.js';
import { startTestService, type TestService } from '../testing/test-service.js';
import { TestWorld } from '../testing/test-world.js';
import { ExecutesJob, Handles } from './decorators.js';

const LOG = Symbol('LOG');

@Injectable()
class Seen implements NestInterceptor {
  constructor(@Inject(LOG) private readonly log: string[]) {}

  intercept(_context: unknown, next: CallHandler) {
    this.log.push('interceptor');
    return next.handle();
  }
}

@Controller()
class Greeter {
  constructor(@Inject(LOG) private readonly log: string[]) {}

  @Handles({ commands: ['greet'], jobs: ['greeting'] })
  @UseInterceptors(Seen)
  handleGreet(input: LaneInput, { writes }: LaneContext): void {
    this.log.push(input.kind);
    if (input.kind !== 'command') return;
    if (input.payload === 'fail') throw new TypeError('a bug');
    const { key, tenant } = input;
    writes.startJob({
      id: `job-${input.id}`,
      kind: 'greeting',
      key,
      tenant,
      attempt: 1,
      payload: input.payload,
      dispatchByMs: 1_000,
      timeoutMs: 1_000,
      lost: 'at-once',
    });
    writes.answer({ ok: true, value: 'started' });
  }

  @Handles({ commands: ['count'] }, { batch: true })
  async handleCounts(inputs: readonly LaneInput[], batch: LaneBatch): Promise<void> {
    for (const input of inputs) batch.attempt(input, (writes) => writes.answer({ ok: true, value: inputs.length }));
  }

  @ExecutesJob({ kind: 'greeting', concurrency: 2 })
  async executeGreeting(job: RunningJob, signal: AbortSignal): Promise<string> {
    job.assertMayDispatch();
    this.log.push(`executed ${String(job.payload)} ${signal.aborted}`);
    return 'hello';
  }
}

const open: { world: TestWorld; service: TestService }[] = [];

async function start() {
  const log: string[] = [];
  @Module({ controllers: [Greeter], providers: [Seen, { provide: LOG, useValue: log }] })
  class Greeting {}
  const database = await (await testDatabase()).createDatabase();
  const world = await TestWorld.open({ database, services: ['memory-store'] });
  const definition = { name: 'memory-store', migrations: [], config: () => ({}), module: () => Greeting } as const;
  const service = await startTestService(world, definition);
  open.push({ world, service });
  const send = (name: string, payload: unknown) =>
    service.commands.send({ name, key: 'k', tenant: 'acme', payload, by: null });
  return { log, send };
}

afterEach(async () => {
  for (const { world, service } of open.splice(0)) {
    await service.stop();
    await world.close();
  }
});

describe('the lane transport strategy', () => {
  it('binds single handlers with their interceptors, executors and the results of jobs', async () => {
    const { log, send } = await start();
    expect(await send('greet', 'world')).toEqual({ ok: true, value: 'started' });
    await eventually(() => log.includes('job'));
    expect(log).toEqual(['interceptor', 'command', 'executed world false', 'interceptor', 'job']);
  });

  it('binds batch handlers', async () => {
    const { send } = await start();
    expect(await send('count', null)).toEqual({ ok: true, value: 1 });
  });

  it('answers a command whose handler fails with the failure, and Nest does not hide the error from the lane', async () => {
    const { log, send } = await start();
    expect(await send('greet', 'fail')).toMatchObject({ ok: false, failure: { code: 'internal' } });
    expect(log.filter((line) => line === 'command')).toHaveLength(3);
  });
});
