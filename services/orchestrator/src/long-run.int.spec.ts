import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { obliging } from './testing/peers.testsuite.js';
import { agentFile, runOf, TestOrchestrator } from './testing/test-orchestrator.testsuite.js';

const TURNS = 1_000;

interface Size {
  readonly tenth: number;
  readonly bytes: number;
}

describe('a run of 1,000 turns', () => {
  let test: TestOrchestrator;

  beforeAll(async () => {
    const clearing = 'context: {clearAtTokens: 3000, keepResults: 3}';
    test = await TestOrchestrator.start({
      peer: obliging,
      agents: [agentFile('tireless', { steps: TURNS }, clearing)],
    });
  });

  afterAll(() => test.stop());

  it('writes no more bytes a step at its end than at its start', { timeout: 180_000 }, async () => {
    await test.submit('long', { endless: true }, { agent: 'tireless' });
    await test.until('long', 'budget_stop', 170_000);
    const stream = await test.rows<Size>(
      `SELECT width_bucket(version, 0, (SELECT max(version) + 1 FROM orchestrator.run_stream), 10) AS tenth,
         sum(octet_length(facts))::int AS bytes
       FROM orchestrator.run_stream GROUP BY 1 ORDER BY 1`,
    );
    const outbox = await test.rows<Size>(
      `SELECT width_bucket("offset", 0, (SELECT max("offset") + 1 FROM orchestrator.outbox), 10) AS tenth,
         sum(octet_length(data) + octet_length(headers))::int AS bytes
       FROM orchestrator.outbox GROUP BY 1 ORDER BY 1`,
    );
    for (const sizes of [stream, outbox]) {
      expect(sizes).toHaveLength(10);
      expect(sizes[9]?.bytes).toBeLessThan((sizes[1]?.bytes ?? 0) * 1.05);
    }
    const [snapshot] = await test.rows<{ bytes: number }>(
      'SELECT octet_length(state) AS bytes FROM orchestrator.run_snapshot',
    );
    const total = stream.reduce((sum, { bytes }) => sum + bytes, 0);
    expect(snapshot?.bytes).toBeLessThan(total / 3);
  });

  it('is loaded cold with less than 300 ms of work', async () => {
    await test.stored('long');
    const before = process.cpuUsage();
    const { state } = await test.stored('long');
    const { user, system } = process.cpuUsage(before);
    expect((user + system) / 1000).toBeLessThan(300);
    expect(state).toMatchObject({ runId: runOf('long'), stage: 'budget_stop' });
    expect(state.totals.turns).toBe(TURNS);
  });
});
