import { describe, expect, it } from 'vitest';
import { NOW_MS, permit } from '../testing/mothers.js';
import { dispatched, type Effect, intended, quietAt } from './effect.js';
import { resolveUnknown } from './resolve.js';
import { type AttemptEnd, settleAttempt, settleWaiting } from './settle.js';

const KINDS = {
  keyed: { writes: true, isKeyHonoured: true },
  unkeyed: { writes: true, isKeyHonoured: false },
  read: { writes: false, isKeyHonoured: false },
} as const;
const effectOf = (kind: keyof typeof KINDS): Effect => intended(permit(), { ...KINDS[kind], timeoutMs: 5_000 }, NOW_MS);
const QUIET_MS = quietAt(NOW_MS, 5_000);

const ok: AttemptEnd = { kind: 'succeeded', result: { text: 'ok' } };
const refused: AttemptEnd = { kind: 'refused', reason: 'tool-error', result: { text: 'no' } };
const silent: AttemptEnd = { kind: 'silent', reason: 'timeout' };
const lost: AttemptEnd = { kind: 'lost' };
const notSent: AttemptEnd = { kind: 'not-sent', reason: 'tool-unavailable', isRetryable: true };
const unusable: AttemptEnd = { kind: 'unusable', reason: 'invalid-result', result: { text: 'lossy' } };

const settle = (effect: Effect, end: AttemptEnd, moment: { nowMs?: number; isStopped?: boolean } = {}) =>
  settleAttempt(effect, effect.attempt, end, { nowMs: NOW_MS + 1_000, isStopped: false, ...moment });

function repeated(effect: Effect, end: AttemptEnd): Effect {
  const step = settle(effect, end);
  if (step.kind !== 'repeat') throw new Error(`expected a repetition, got ${step.kind}`);
  return step.effect;
}

describe('the first attempt', () => {
  it.each<[keyof typeof KINDS, AttemptEnd, string]>([
    ['keyed', ok, 'succeeded'],
    ['keyed', refused, 'failed'],
    ['keyed', notSent, 'not-dispatched'],
    ['keyed', unusable, 'unknown'],
    ['unkeyed', ok, 'succeeded'],
    ['unkeyed', refused, 'failed'],
    ['unkeyed', notSent, 'not-dispatched'],
    ['unkeyed', silent, 'unknown'],
    ['unkeyed', unusable, 'unknown'],
    ['read', ok, 'succeeded'],
    ['read', refused, 'failed'],
    ['read', notSent, 'not-dispatched'],
    ['read', unusable, 'failed'],
  ])('of a %s call that ends %j is %s', (kind, end, status) => {
    expect(settle(effectOf(kind), end)).toMatchObject({
      kind: 'close',
      effect: { state: status },
      completion: { status },
    });
  });

  it.each<[keyof typeof KINDS, AttemptEnd]>([
    ['keyed', silent],
    ['keyed', lost],
    ['read', silent],
    ['read', lost],
  ])('of a %s call that ends %j is repeated once', (kind, end) => {
    expect(settle(effectOf(kind), end)).toMatchObject({ kind: 'repeat', effect: { attempt: 2, state: 'intent' } });
  });

  it('S01: of an unkeyed call whose process died is unknown, and not before it can act no more', () => {
    const step = settle(effectOf('unkeyed'), lost);
    expect(step).toMatchObject({ kind: 'wait', untilMs: QUIET_MS, effect: { isWaiting: true, state: 'intent' } });
    expect(settle(effectOf('unkeyed'), lost, { nowMs: QUIET_MS })).toMatchObject({
      completion: { status: 'unknown', reason: 'owner-lost' },
    });
  });

  it('is not repeated once the run is stopped', () => {
    expect(settle(effectOf('keyed'), silent, { isStopped: true })).toMatchObject({ completion: { status: 'unknown' } });
    expect(settle(effectOf('keyed'), lost, { isStopped: true })).toMatchObject({ kind: 'wait', untilMs: QUIET_MS });
    expect(settle(effectOf('read'), silent, { isStopped: true })).toMatchObject({
      completion: { status: 'failed', reason: 'timeout' },
    });
  });

  it('whose slot came late counts from then', () => {
    const effect = dispatched(effectOf('unkeyed'), NOW_MS + 60_000);
    expect(effect).toMatchObject({ state: 'dispatched', quietAtMs: QUIET_MS + 60_000 });
  });
});

describe('a repeated attempt', () => {
  it('that succeeds is certain', () => {
    expect(settle(repeated(effectOf('keyed'), lost), ok)).toMatchObject({ completion: { status: 'succeeded' } });
  });

  it.each([refused, notSent, silent])('that ends %j leaves the outcome unknown', (end) => {
    expect(settle(repeated(effectOf('keyed'), silent), end)).toMatchObject({ completion: { status: 'unknown' } });
  });

  it('waits until the lost attempt before it can act no more', () => {
    const step = settle(repeated(effectOf('keyed'), lost), refused);
    expect(step).toMatchObject({ kind: 'wait', untilMs: QUIET_MS });
    if (step.kind !== 'wait') return;
    expect(settleWaiting(step.effect, QUIET_MS - 1)).toMatchObject({ kind: 'wait', untilMs: QUIET_MS });
    expect(settleWaiting(step.effect, QUIET_MS)).toMatchObject({
      kind: 'close',
      effect: { state: 'unknown', isWaiting: false },
      completion: { status: 'unknown', reason: 'tool-error' },
    });
  });

  it('of a read is believed', () => {
    expect(settle(repeated(effectOf('read'), lost), refused)).toMatchObject({
      completion: { status: 'failed', reason: 'tool-error' },
    });
    expect(settle(repeated(effectOf('read'), silent), silent)).toMatchObject({
      completion: { status: 'failed', isRetryable: true },
    });
  });

  it('makes the result of the first attempt stale', () => {
    expect(settleAttempt(repeated(effectOf('keyed'), lost), 1, ok, { nowMs: NOW_MS, isStopped: false })).toEqual({
      kind: 'stale',
    });
  });

  it('is the last', () => {
    const second = repeated(effectOf('keyed'), lost);
    expect(settle(second, silent, { nowMs: QUIET_MS })).toMatchObject({ completion: { status: 'unknown' } });
  });
});

describe('a settled call', () => {
  it('takes no other end', () => {
    const step = settle(effectOf('unkeyed'), ok);
    if (step.kind !== 'close') throw new Error('not settled');
    expect(settle(step.effect, refused)).toEqual({ kind: 'stale' });
    expect(settleWaiting(step.effect, NOW_MS)).toEqual({ kind: 'stale' });
  });
});

describe('resolving', () => {
  const unknown: Effect = { ...effectOf('unkeyed'), state: 'unknown' };

  it('is refused while an attempt could still act', () => {
    expect(() => resolveUnknown(unknown, 'happened', QUIET_MS - 1)).toThrow(
      expect.objectContaining({ code: 'attempt-open' }),
    );
    expect(() => resolveUnknown(effectOf('unkeyed'), 'happened', QUIET_MS)).toThrow(
      expect.objectContaining({ code: 'attempt-open' }),
    );
  });

  it('takes one word', () => {
    const resolved = resolveUnknown(unknown, 'happened', QUIET_MS);
    expect(resolved).toMatchObject({ state: 'happened' });
    expect(resolved && resolveUnknown(resolved, 'happened', QUIET_MS)).toBeUndefined();
    expect(() => resolved && resolveUnknown(resolved, 'not-happened', QUIET_MS)).toThrow(
      expect.objectContaining({ code: 'already-decided' }),
    );
  });

  it('is refused for a known outcome', () => {
    expect(() => resolveUnknown({ ...unknown, state: 'succeeded' }, 'happened', QUIET_MS)).toThrow(/it is succeeded/);
  });
});
