import type { CommandInput, JobInput, JobOutcome, LaneInput, TimerInput } from '@lineclear/messaging';
import { describe, expect, it } from 'vitest';
import { MODEL_CALL } from './names.js';
import { toRunInput } from './run-input.js';

const AT = '2026-11-30T10:00:00.000Z';
const USAGE = { uncached: 1, cacheRead: 0, cacheWrite: 0, output: 1, reasoning: 0, estimated: false };

const job = (outcome: JobOutcome): JobInput => ({
  kind: 'job',
  id: 'job-1',
  key: 'run_1',
  shard: 0,
  job: MODEL_CALL,
  attempt: 2,
  payload: { runId: 'run_1', step: 3, attempt: 2 },
  outcome,
});

const outcomeOf = (outcome: JobOutcome) => {
  const input = toRunInput(job(outcome), AT);
  return input.kind === 'job' ? input.outcome : undefined;
};

describe('an input of a run', () => {
  it('carries a model reply as it came', () => {
    const reply = { text: 'done', calls: [], stopReason: 'end' };
    const result = { status: 'succeeded', reply, usage: USAGE };
    expect(toRunInput(job({ status: 'done', result }), AT)).toEqual({
      kind: 'job',
      id: 'job-1',
      at: AT,
      step: 3,
      attempt: 2,
      outcome: result,
    });
  });

  it.each<[string, JobOutcome, unknown]>([
    [
      'a malformed reply',
      { status: 'done', result: { status: 'malformed', reason: 'cut', usage: USAGE } },
      { status: 'malformed', reason: 'cut', usage: USAGE },
    ],
    [
      'a provider failure',
      {
        status: 'done',
        result: { status: 'failed', failure: { code: 'unavailable', message: 'down', details: {}, retryable: false } },
      },
      { status: 'failed', reason: 'down' },
    ],
    [
      'a time-out',
      { status: 'failed', failure: { code: 'timed-out', message: 'too slow', details: {}, retryable: true } },
      { status: 'failed', reason: 'too slow' },
    ],
    [
      'a stopped executor',
      { status: 'failed', failure: { code: 'cancelled', message: 'stop', details: {}, retryable: false } },
      { status: 'lost' },
    ],
    ['a lost owner', { status: 'lost' }, { status: 'lost' }],
    ['a call that was never sent', { status: 'not-dispatched', reason: 'late' }, { status: 'not-dispatched' }],
  ])('tells %s', (_, outcome, expected) => {
    expect(outcomeOf(outcome)).toEqual(expected);
  });

  it('names who cancels and why', () => {
    const by = { tenant: 'acme', subject: 'olga', roles: [], scopes: [] };
    const cancel: CommandInput = {
      kind: 'command',
      id: 'c',
      key: 'run_1',
      shard: 0,
      name: 'cancel-run',
      tenant: 'acme',
      payload: { reason: 'duplicate' },
      by,
    };
    expect(toRunInput(cancel, AT)).toMatchObject({
      kind: 'command',
      name: 'cancel',
      payload: { reason: 'duplicate' },
      by: 'olga',
    });
    expect(toRunInput({ ...cancel, payload: {}, by: null }, AT)).toMatchObject({ payload: {}, by: 'platform' });
  });

  it('turns a dropped message into a drop', () => {
    const event = {
      id: 'e-1',
      source: 'policy-engine',
      type: 'lineclear.tool-call.denied.v1',
      subject: 'run_1',
      time: AT,
      tenant: 'acme',
      correlationid: 'run_1',
      confidentiality: 'internal' as const,
      integrity: 'trusted' as const,
      data: {},
    };
    const dropped = {
      kind: 'dropped',
      id: 'd',
      key: 'run_1',
      shard: 0,
      name: 'tool-call.denied',
      event,
      by: 'olga',
      reason: 'broken',
    } as LaneInput;
    expect(toRunInput(dropped, AT)).toMatchObject({
      kind: 'command',
      name: 'drop',
      payload: { name: 'tool-call.denied', id: 'e-1', reason: 'broken' },
      by: 'olga',
    });
  });

  it('refuses what it does not know', () => {
    const timer: TimerInput = {
      kind: 'timer',
      id: 't',
      key: 'run_1',
      shard: 0,
      name: 'wall',
      payload: null,
      dueAt: new Date(0),
    };
    expect(toRunInput(timer, AT)).toEqual({ kind: 'timer', id: 't', at: AT, name: 'wall' });
    expect(() => toRunInput({ ...job({ status: 'lost' }), job: 'webhook' }, AT)).toThrow(
      'a run takes no result of job `webhook`',
    );
    expect(() => toRunInput({ ...job({ status: 'lost' }), kind: 'dispatch' } as LaneInput, AT)).toThrow(
      'no input of kind `dispatch`',
    );
  });
});
