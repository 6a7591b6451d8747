import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { obliging, silentOn } from '../testing/peers.testsuite.js';
import { runOf, TestOrchestrator } from '../testing/test-orchestrator.testsuite.js';
import { StuckRunWatch } from './stuck-run-watch.js';

describe('the stuck-run watch', () => {
  let test: TestOrchestrator;

  beforeAll(async () => {
    test = await TestOrchestrator.start({ peer: obliging });
  });

  afterAll(() => test.stop());

  const look = async () => (await test.service.get<StuckRunWatch>(StuckRunWatch).look()).map(({ runId }) => runId);
  /** Moves a run's last change into the past. */
  const age = (taskId: string, seconds: number) =>
    test.rows(
      `UPDATE orchestrator.run SET changed_at = changed_at - make_interval(secs => $2), quiet_until = quiet_until - make_interval(secs => $2) WHERE run_id = $1`,
      [runOf(taskId), seconds],
    );

  it('names a run whose policy says nothing for longer than it should, once two looks have seen it', async () => {
    await test.submit(
      'silent',
      { calls: 1 },
      {
        peer: silentOn('tool-call.proposed', obliging),
      },
    );
    await test.until('silent', 'gating');
    expect([await look(), await look()]).toEqual([[], []]);
    await age('silent', 31);
    expect(await look()).toEqual([]);
    expect(await look()).toEqual([runOf('silent')]);
    expect(test.logged).toContainEqual({
      message: 'a run is stuck: nothing will move it on',
      fields: expect.objectContaining({ runId: runOf('silent'), tenant: 'acme', state: 'gating' }),
    });
    await test.cancel('silent');
    await test.until('silent', 'cancelled');
    expect([await look(), await look()]).toEqual([[], []]);
  });

  it('knows who is at work: a job, a person', async () => {
    await test.submit('thinking', { hang: true });
    await test.until('thinking', 'reasoning');
    await age('thinking', 60);
    expect([await look(), await look()]).toEqual([[], []]);
    await test.rows('DELETE FROM orchestrator.job');
    expect([await look(), await look()]).toEqual([[], [runOf('thinking')]]);
  });
});
