import type { EventData } from '@lineclear/contracts';
import { DROP_HELD } from '@lineclear/messaging';
import { eventually } from '@lineclear/test-kit';
import { afterEach, describe, expect, it } from 'vitest';
import {
  authorized,
  completed,
  denied,
  fenced,
  neverCompletes,
  obliging,
  onlyRegistry,
  type PeerEvent,
  silentOn,
} from './testing/peers.testsuite.js';
import { INBOX, runOf, TestOrchestrator, type TestOptions } from './testing/test-orchestrator.testsuite.js';

type Proposed = EventData<'tool-call.proposed'>;

interface Held {
  readonly held_id: string;
  readonly state: string;
}

const heldOf = (test: TestOrchestrator) => test.rows<Held>('SELECT held_id, state FROM orchestrator.held ORDER BY n');

const drop = (test: TestOrchestrator, held: Held | undefined) =>
  test.service.commands.send({
    name: DROP_HELD,
    key: runOf('t'),
    tenant: 'acme',
    payload: { heldId: held?.held_id, reason: 'forged' },
    by: { ...INBOX, subject: 'olga', roles: ['operator'] },
  });

describe('a run keeps its promises', () => {
  const running: TestOrchestrator[] = [];
  const start = async (options: TestOptions = { peer: obliging }): Promise<TestOrchestrator> => {
    const test = await TestOrchestrator.start(options);
    running.push(test);
    return test;
  };

  afterEach(async () => {
    for (const test of running.splice(0)) await test.stop();
  });

  it('when the process is killed while a call is open: each answer counts once', async () => {
    const test = await start();
    await test.submit('t', { calls: 1 }, { peer: onlyRegistry });
    const call = await test.event<Proposed>('t', 'tool-call.proposed');
    await test.publish('t', authorized(call));
    await test.until('t', 'executing');
    const before = await test.stored('t');
    await test.restart();
    await test.publish('t', authorized(call), completed(call), authorized(call), completed(call));
    await test.until('t', 'answered');
    expect(test.eventsOf('t')).toEqual([
      'run.started',
      'model-call.completed',
      'tool-call.proposed',
      'model-call.completed',
      'run.finished',
    ]);
    expect((await test.stored('t')).state.version).toBeGreaterThan(before.state.version);
  });

  it('when the process is killed during a model call: the attempt is charged and repeated at once', async () => {
    const test = await start();
    await test.submit('t', { hang: 'once' });
    await test.until('t', 'reasoning');
    await eventually(async () => (await test.rows('SELECT 1 FROM orchestrator.job')).length === 1);
    await test.restart();
    await test.until('t', 'answered');
    expect(await test.event('t', 'model-call.completed', 1)).toMatchObject({ step: 1, attempt: 1, status: 'lost' });
    expect(await test.event('t', 'model-call.completed', 2)).toMatchObject({
      step: 1,
      attempt: 2,
      status: 'succeeded',
    });
    expect(await test.event('t', 'run.finished')).toMatchObject({ totals: { steps: 1 } });
  });

  it('when the process is killed amid many runs: each ends once', async () => {
    const test = await start();
    const taskIds = Array.from({ length: 24 }, (_, n) => `many-${n}`);
    await Promise.all(taskIds.map((taskId) => test.submit(taskId, { parallel: true })));
    await test.event('many-7', 'tool-call.proposed');
    await test.restart();
    await Promise.all(taskIds.map((taskId) => test.until(taskId, 'answered')));
    for (const taskId of taskIds) {
      const events = test.eventsOf(taskId);
      for (const [name, count] of [
        ['run.started', 1],
        ['tool-call.proposed', 3],
        ['run.finished', 1],
      ] as const)
        expect(events.filter((other) => other === name)).toHaveLength(count);
    }
  });

  it('when answers come doubled and in any order: the state is the same', async () => {
    const test = await start();
    const orders: readonly ((call: Proposed) => readonly PeerEvent[])[] = [
      (call) => [authorized(call), completed(call)],
      (call) => [completed(call), authorized(call)],
      (call) => [completed(call), completed(call), authorized(call), completed(call), authorized(call)],
    ];
    const ends = await Promise.all(
      orders.map(async (order, n) => {
        const taskId = `order-${n}`;
        await test.submit(taskId, { parallel: true }, { peer: onlyRegistry });
        const calls = await Promise.all(
          [1, 2, 3].map((nth) => test.event<Proposed>(taskId, 'tool-call.proposed', nth)),
        );
        await test.publish(taskId, ...calls.toReversed().flatMap(order));
        await test.until(taskId, 'answered');
        const { state } = await test.stored(taskId);
        const messages = state.window.messages.toArray();
        return JSON.stringify([messages, state.totals, state.ledger]).replaceAll(runOf(taskId), 'RUN');
      }),
    );
    expect(new Set(ends)).toHaveProperty('size', 1);
    expect(ends[0]).toContain('result of RUN-1-2');
  });

  it('when another payload comes for an answer that counted: it is refused and recorded', async () => {
    const test = await start();
    await test.submit('t', { calls: 1 }, { peer: neverCompletes });
    const call = await test.event<Proposed>('t', 'tool-call.proposed');
    await test.publish('t', { ...denied(call), id: 'forged' }, completed(call));
    await test.until('t', 'answered');
    const facts = await test.rows<{ facts: string }>('SELECT facts FROM orchestrator.run_stream ORDER BY version');
    expect(facts.map((row) => row.facts).join('')).toContain('"name":"violation"');
    expect(await test.event('t', 'run.finished')).toMatchObject({ answer: 'done after 1' });
  });

  it('when a message of another tenant names it: it is parked, and the run goes on once an operator dropped it', async () => {
    const test = await start();
    await test.submit('t', { calls: 1 }, { peer: onlyRegistry });
    const call = await test.event<Proposed>('t', 'tool-call.proposed');
    await test.world.publish({ ...authorized(call), key: runOf('t'), tenant: 'globex' } as never);
    await eventually(async () => (await heldOf(test))[0]?.state === 'parked');
    await test.publish('t', authorized(call), completed(call));
    await eventually(async () => (await heldOf(test)).length === 3);
    expect(await drop(test, (await heldOf(test))[0])).toMatchObject({ ok: true });
    await test.until('t', 'answered');
  });

  it('when an operator drops a message that it waits for: it stops and fails', async () => {
    const test = await start();
    await test.submit('t', { calls: 1 }, { peer: silentOn('tool-call.proposed', obliging) });
    const call = await test.event<Proposed>('t', 'tool-call.proposed');
    await test.world.publish({ ...authorized(call), key: runOf('t'), tenant: 'globex' } as never);
    await test.publish('t', authorized(call));
    await eventually(async () => (await heldOf(test)).length === 2);
    expect(await drop(test, (await heldOf(test))[1])).toMatchObject({ ok: true });
    await test.until('t', 'failed');
    expect(await test.event('t', 'run.finished')).toMatchObject({
      reason: expect.stringContaining('an operator dropped `tool-call.authorized`'),
    });
  });

  it('when it is stopping behind a parked message: the fence and the results still reach it', async () => {
    const test = await start();
    await test.submit('t', { calls: 1 }, { peer: silentOn('run.stop-started', neverCompletes) });
    const call = await test.event<Proposed>('t', 'tool-call.proposed');
    await test.until('t', 'executing');
    await test.world.publish({ ...denied(call), key: runOf('t'), tenant: 'globex' } as never);
    await eventually(async () => (await test.rows('SELECT 1 FROM orchestrator.held')).length === 1);
    await test.cancel('t');
    const stop = await test.event<EventData<'run.stop-started'>>('t', 'run.stop-started');
    await test.publish('t', fenced(stop, [call.callId]), completed(call));
    await test.until('t', 'cancelled');
    expect(await heldOf(test)).toHaveLength(1);
  });
});
