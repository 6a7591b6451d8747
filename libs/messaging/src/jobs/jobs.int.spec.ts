import { shardOf } from '@lineclear/contracts';
import { eventually, testDatabase } from '@lineclear/test-kit';
import { afterEach, describe, expect, it } from 'vitest';
import type { NewJob } from '../lane/batch.js';
import type { JobExecutor, RunningJob } from '../lane/handlers.js';
import type { CommandInput, JobInput, LaneInput } from '../lane/input.js';
import type { Executor, Handler } from '../lane/registry.js';
import { COUNTING, openCounterWorld } from '../testing/counter-service.js';
import { CutProxy } from '../testing/cut-proxy.js';
import { ManualBus } from '../testing/manual-bus.js';
import type { TestLaneOptions, TestWorld } from '../testing/test-world.js';

const closing: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

async function open(): Promise<TestWorld> {
  const world = await openCounterWorld(await testDatabase());
  closing.push(() => world.close());
  return world;
}

/** Starts and aborts jobs by command, and keeps what comes back. */
class Desk {
  readonly results: JobInput[] = [];
  readonly dispatches: string[] = [];
  readonly ran: string[] = [];
  readonly aborted: string[] = [];
  dropsDispatch: (id: string) => boolean = () => false;
  execute: JobExecutor = async () => 'done';

  get handlers(): Handler[] {
    const patterns = { commands: ['start', 'abort'], jobs: ['work'], dispatches: ['work'] };
    return [{ name: 'Desk', patterns, batch: false, handle: (input, { writes }) => this.#handle(input, writes) }];
  }

  executors(concurrency: number): Executor[] {
    const execute: JobExecutor = async (job, signal) => {
      signal.addEventListener('abort', () => this.aborted.push(job.id));
      this.ran.push(`${job.id}/${job.attempt}`);
      return await this.execute(job, signal);
    };
    return [{ kind: { kind: 'work', concurrency }, execute }];
  }

  #handle(input: LaneInput, writes: Parameters<Extract<Handler, { batch: false }>['handle']>[1]['writes']): void {
    if (input.kind === 'job') this.results.push(input);
    if (input.kind === 'dispatch') {
      this.dispatches.push(input.id);
      if (this.dropsDispatch(input.id)) writes.dropJob(input.id);
    }
    if (input.kind !== 'command') return;
    const { payload, key, tenant, name } = input as CommandInput<Partial<NewJob> & { id: string }>;
    if (name === 'abort') return writes.abortJob(payload.id);
    const job = { kind: 'work', key, tenant, attempt: 1, payload: null, dispatchByMs: 5_000, timeoutMs: 5_000 };
    writes.startJob({ lost: 'at-once', ...job, ...payload });
  }
}

async function start(world: TestWorld, desk: Desk, options: Partial<TestLaneOptions> & { concurrency?: number } = {}) {
  const { concurrency = 4, ...rest } = options;
  const executors = desk.executors(concurrency);
  const lane = await world.startLane({ service: COUNTING, handlers: desk.handlers, executors, ...rest });
  let sent = 0;
  const send = (name: string, payload: object, tenant = 'acme', waitMs = 5_000) =>
    lane.commands.send({ id: `c${(sent += 1)}`, name, key: 'a', tenant, payload, by: null }, { waitMs });
  return { lane, send };
}

const rows = (world: TestWorld) =>
  world.query<{ id: string; state: string; attempt: number }>(
    'SELECT id, state, attempt FROM tool_registry.job ORDER BY id',
  );

/** Runs until it is told to end, or aborted. */
function heldBack(): { execute: JobExecutor; release: () => void } {
  const { promise, resolve } = Promise.withResolvers<string>();
  const execute = (_job: RunningJob, signal: AbortSignal) =>
    Promise.race([
      promise,
      new Promise<string>((_done, fail) => signal.addEventListener('abort', () => fail(signal.reason))),
    ]);
  return { execute, release: () => resolve('done') };
}

describe('a job', () => {
  it('starts after its commit, and its result is an input that takes its row away', async () => {
    const world = await open();
    const desk = new Desk();
    desk.execute = async ({ payload }) => ({ got: payload, rows: await rows(world) });
    const { send } = await start(world, desk);
    await send('start', { id: 'j1', payload: 7 });
    await eventually(() => desk.results.length === 1);
    const result = { got: 7, rows: [{ id: 'j1', state: 'dispatched', attempt: 1 }] };
    expect(desk.results).toMatchObject([
      { id: 'j1', job: 'work', attempt: 1, payload: 7, outcome: { status: 'done', result } },
    ]);
    await eventually(async () => expect(await rows(world)).toEqual([]));
  });

  it('fails with the failure of what its executor throws', async () => {
    const desk = new Desk();
    desk.execute = () => Promise.reject(new TypeError('a secret'));
    const { send } = await start(await open(), desk);
    await send('start', { id: 'j1' });
    await eventually(() => desk.results.length === 1);
    expect(desk.results[0]?.outcome).toMatchObject({ status: 'failed', failure: { code: 'internal' } });
  });

  it('is aborted at its time-out', async () => {
    const desk = new Desk();
    desk.execute = heldBack().execute;
    const { send } = await start(await open(), desk);
    await send('start', { id: 'j1', timeoutMs: 30 });
    await eventually(() => desk.results.length === 1);
    expect(desk.results[0]?.outcome).toMatchObject({ status: 'failed', failure: { code: 'timed-out' } });
  });

  it('is not sent after dispatch-by, and says so', async () => {
    const desk = new Desk();
    desk.execute = async (job) => {
      await new Promise((resolve) => void setTimeout(resolve, 40));
      job.assertMayDispatch();
      return 'sent';
    };
    const { send } = await start(await open(), desk);
    await send('start', { id: 'j1', dispatchByMs: 5 });
    await eventually(() => desk.results.length === 1);
    expect(desk.results[0]?.outcome).toEqual({ status: 'not-dispatched', reason: 'dispatch-by-passed' });
  });

  it('that runs is aborted and still answers; one that waits is just removed', async () => {
    const world = await open();
    const desk = new Desk();
    desk.execute = heldBack().execute;
    const { send } = await start(world, desk, { concurrency: 1 });
    await send('start', { id: 'runs' });
    await send('start', { id: 'waits' });
    await send('abort', { id: 'waits' });
    await send('abort', { id: 'runs' });
    await eventually(() => desk.results.length === 1);
    expect(desk.results[0]).toMatchObject({
      id: 'runs',
      outcome: { status: 'failed', failure: { code: 'cancelled' } },
    });
    await eventually(async () => expect(await rows(world)).toEqual([]));
    expect(desk.ran).toEqual(['runs/1']);
  });
});

describe('a job that waits for a slot', () => {
  it('is asked for once more before it is dispatched, and not started when it was dropped there', async () => {
    const world = await open();
    const desk = new Desk();
    const first = heldBack();
    desk.execute = (job, signal) => (job.id === 'j1' ? first.execute(job, signal) : Promise.resolve('done'));
    desk.dropsDispatch = (id) => id === 'j2';
    const { send } = await start(world, desk, { concurrency: 1 });
    for (const id of ['j1', 'j2', 'j3']) await send('start', { id });
    expect(await rows(world)).toMatchObject([{ state: 'dispatched' }, { state: 'queued' }, { state: 'queued' }]);
    first.release();
    await eventually(() => desk.results.length === 2);
    expect(desk.dispatches).toEqual(['j2', 'j3']);
    expect(desk.ran).toEqual(['j1/1', 'j3/1']);
    await eventually(async () => expect(await rows(world)).toEqual([]));
  });

  it('takes turns with those of other tenants', async () => {
    const desk = new Desk();
    const first = heldBack();
    desk.execute = (job, signal) => (job.id === 'j0' ? first.execute(job, signal) : Promise.resolve('done'));
    const { send } = await start(await open(), desk, { concurrency: 1 });
    await send('start', { id: 'j0' });
    for (const id of ['a1', 'a2', 'a3', 'a4']) await send('start', { id }, 'acme');
    await send('start', { id: 'b1' }, 'beta');
    first.release();
    await eventually(() => desk.results.length === 6);
    expect(desk.ran.indexOf('b1/1')).toBeLessThan(desk.ran.indexOf('a3/1'));
  });
});

describe('a graceful stop', () => {
  it('waits for the jobs that run, starts none that wait, and leaves those to the next process', async () => {
    const world = await open();
    const desk = new Desk();
    const job = heldBack();
    desk.execute = (running, signal) => (running.id === 'j1' ? job.execute(running, signal) : Promise.resolve('done'));
    const { send, lane } = await start(world, desk, { concurrency: 1 });
    for (const id of ['j1', 'j2']) await send('start', { id });
    const stopped = lane.stop();
    job.release();
    await stopped;
    expect(desk.results).toMatchObject([{ id: 'j1', outcome: { status: 'done' } }]);
    expect(await rows(world)).toMatchObject([{ id: 'j2', state: 'queued' }]);
    await world.restart();
    await start(world, desk, { concurrency: 1 });
    await eventually(() => desk.results.length === 2);
    expect(desk.ran).toEqual(['j1/1', 'j2/1']);
  });

  it('aborts what does not end in time', async () => {
    const world = await open();
    const desk = new Desk();
    desk.execute = heldBack().execute;
    const { send, lane } = await start(world, desk);
    await send('start', { id: 'j1' });
    await lane.stop({ drainMs: 50 });
    expect(desk.aborted).toEqual(['j1']);
  });
});

describe('recovery of jobs', () => {
  it('tells at once of a lost job of a dead owner', async () => {
    const world = await open();
    const desk = new Desk();
    desk.execute = heldBack().execute;
    const { send } = await start(world, desk);
    await send('start', { id: 'j1', lost: 'at-once', timeoutMs: 60_000 });
    await world.crash();
    await start(world, desk);
    await eventually(() => desk.results.length === 1);
    expect(desk.results).toMatchObject([{ id: 'j1', attempt: 1, outcome: { status: 'lost' } }]);
    expect(desk.ran).toEqual(['j1/1']);
  });

  it('tells of a quiet one only after dispatch-by and time-out, when no attempt can act any more', async () => {
    const world = await open();
    const desk = new Desk();
    desk.execute = heldBack().execute;
    const { send } = await start(world, desk);
    await send('start', { id: 'j1', lost: 'quiet', dispatchByMs: 300, timeoutMs: 400 });
    const startedAt = performance.now();
    await world.crash();
    await start(world, desk);
    await eventually(() => desk.results.length === 1);
    expect(performance.now() - startedAt).toBeGreaterThan(650);
    expect(desk.results).toMatchObject([{ outcome: { status: 'lost' } }]);
  });

  it('runs those that were never dispatched', async () => {
    const world = await open();
    const desk = new Desk();
    desk.execute = heldBack().execute;
    const { send } = await start(world, desk, { concurrency: 1 });
    await send('start', { id: 'j1' });
    await send('start', { id: 'j2' });
    await world.crash();
    desk.execute = async () => 'second try';
    await start(world, desk, { concurrency: 1 });
    await eventually(() => desk.results.length === 2);
    expect(Object.fromEntries(desk.results.map(({ id, outcome }) => [id, outcome.status]))).toEqual({
      j1: 'lost',
      j2: 'done',
    });
  });

  it('leaves the job of a live owner alone: its result comes through the mailbox', async () => {
    const world = await open();
    const desk = new Desk();
    const job = heldBack();
    desk.execute = job.execute;
    const first = new ManualBus();
    const second = new ManualBus();
    const { send } = await start(world, desk, { bus: first });
    const successor = new Desk();
    await start(world, successor, { bus: second });
    await first.sink.assigned([shardOf('a')]);
    await send('start', { id: 'j1' });
    await first.sink.revoked([shardOf('a')]);
    await second.sink.assigned([shardOf('a')]);
    job.release();
    await eventually(() => successor.results.length === 1);
    expect(successor.results).toMatchObject([{ id: 'j1', attempt: 1, outcome: { status: 'done', result: 'done' } }]);
    expect(successor.ran).toEqual([]);
    expect(desk.results).toEqual([]);
    await eventually(async () => expect(await rows(world)).toEqual([]));
  });

  it('notices later that the owner has died', async () => {
    const world = await open();
    const desk = new Desk();
    desk.execute = heldBack().execute;
    const first = new ManualBus();
    const second = new ManualBus();
    const { send, lane } = await start(world, desk, { bus: first });
    const successor = new Desk();
    await start(world, successor, { bus: second });
    await first.sink.assigned([shardOf('a')]);
    await send('start', { id: 'j1' });
    await second.sink.assigned([shardOf('a')]);
    await lane.kill();
    await world.query(`UPDATE tool_registry.owner SET seen_at = now() - interval '1 minute' WHERE id = $1`, [
      lane.owner,
    ]);
    await eventually(() => successor.results.length === 1);
    expect(successor.results).toMatchObject([{ id: 'j1', outcome: { status: 'lost' } }]);
  });

  it('starts its own dispatched row that no executor holds: the answer of its commit was lost', async () => {
    const world = await open();
    const [address] = await world.query<{ host: string; port: number }>(
      'SELECT host(inet_server_addr()) AS host, inet_server_port() AS port',
    );
    const proxy = await CutProxy.start(address ?? { host: '', port: 0 });
    closing.push(() => proxy.stop());
    const desk = new Desk();
    const { send } = await start(world, desk, { via: { host: '127.0.0.1', port: proxy.port } });
    await send('start', { id: 'j0' });
    await eventually(async () => expect(await rows(world)).toEqual([]));
    proxy.loseAnswer((data) => data.includes('raised'));
    expect(await send('start', { id: 'j1' })).toEqual({ ok: true, value: null });
    await eventually(() => desk.results.length === 2);
    expect(proxy.cuts).toBe(1);
    expect(desk.ran).toEqual(['j0/1', 'j1/1']);
  });
});
