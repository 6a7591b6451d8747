import { eventType, type EventName } from '@lineclear/contracts';
import { describe, expect, it } from 'vitest';
import type { ArchivedEvent } from './archived-event.js';
import { runTree } from './run-tree.js';

const CALL = { callId: 'run_1-1-0', turn: 1, index: 0, round: 1, stage: 'first', tool: 'erp.post' };
const USAGE = { uncached: 10, cacheRead: 0, cacheWrite: 0, output: 4, reasoning: 0, estimated: false };
let arrival = 0;

function event(name: EventName, data: object, source = 'orchestrator'): ArchivedEvent {
  arrival += 1;
  return {
    id: `e${arrival}`,
    source,
    type: eventType(name),
    subject: 'run_1',
    tenant: 'acme',
    time: new Date(arrival).toISOString(),
    correlationid: 'run_1',
    confidentiality: 'internal',
    integrity: 'trusted',
    arrival,
    dataText: JSON.stringify(data),
  };
}

describe('the tree of a run', () => {
  it('shows each model call, each turn and what became of each call', () => {
    const tree = runTree('run_1', [
      event('run.started', { definition: { agent: 'clerk', version: 2 } }),
      event('model-call.completed', {
        step: 1,
        attempt: 1,
        status: 'succeeded',
        usage: USAGE,
        costMicros: 7,
        reply: { calls: [{}, {}] },
      }),
      event('tool-call.proposed', CALL),
      event('tool-call.refused', {
        ...CALL,
        callId: 'run_1-1-1',
        index: 1,
        tool: 'erp.nothing',
        reason: 'unknown-tool',
      }),
      event('tool-call.authorized', CALL, 'policy-engine'),
      event('tool-call.completed', { ...CALL, status: 'succeeded' }, 'tool-registry'),
      event('run.finished', { state: 'answered', reason: 'done', totals: { steps: 1 } }),
    ]);
    expect(tree).toMatchObject({
      agent: 'clerk@2',
      state: 'answered',
      modelCalls: [{ step: 1, calls: 2, costMicros: 7 }],
      turns: [
        {
          turn: 1,
          calls: [
            { index: 0, tool: 'erp.post', status: 'succeeded' },
            { index: 1, tool: 'erp.nothing', status: 'refused', reason: 'unknown-tool' },
          ],
        },
      ],
      totals: { steps: 1 },
    });
    expect(tree.turns[0]?.calls[0]?.events.map(({ name }) => name)).toEqual([
      'tool-call.proposed',
      'tool-call.authorized',
      'tool-call.completed',
    ]);
    expect(tree.others.map(({ name }) => name)).toEqual(['run.started', 'run.finished']);
  });

  it('shows a run that goes on, and events of types that it does not know', () => {
    const tree = runTree('run_1', [
      event('approval.requested', { ...CALL, approvalId: 'apr_1' }),
      { ...event('run.fenced', {}), type: 'lineclear.later.v9' },
    ]);
    expect(tree).toMatchObject({
      state: 'running',
      agent: null,
      turns: [{ calls: [{ status: 'waiting for approval' }] }],
    });
    expect(tree.others).toMatchObject([{ name: 'lineclear.later.v9' }]);
  });
});
