import { describe, expect, it } from 'vitest';
import { CALL, gate, NOW_MS, permit, tool } from '../testing/mothers.js';
import { type AuthorizationFacts, type BusinessClaim, decideAuthorization, storedCompletion } from './authorize.js';
import { definitionOf } from './definition.js';
import { intended, notDispatched, type Permit } from './effect.js';
import type { Gate } from './gate.js';

const decide = (given: Partial<AuthorizationFacts> = {}, change: Partial<Permit> = {}) =>
  decideAuthorization(permit(change), {
    ...gate(),
    existing: undefined,
    claim: undefined,
    argumentProblems: [],
    ...given,
  });
const entry = (state: 'intent' | 'succeeded' | 'unknown', change: Partial<Permit> = {}) => ({
  ...intended(permit(change), { writes: true, isKeyHonoured: true, timeoutMs: 5_000 }, NOW_MS),
  state,
});

describe('an authorization', () => {
  it('starts the call when nothing stands against it', () => {
    expect(decide()).toMatchObject({
      kind: 'start',
      effect: { state: 'intent', attempt: 1, isRepeatable: true, quietAtMs: NOW_MS + 15_000 },
    });
    expect(decide({ tool: tool({ key: 'none' }) })).toMatchObject({ effect: { isRepeatable: false, writes: true } });
    expect(decide({ tool: tool({ key: 'none', write: false }) })).toMatchObject({
      effect: { isRepeatable: true, writes: false },
    });
  });

  it.each<[string, Partial<Gate>, Partial<Permit>]>([
    ['run-stopped', { isStopped: true }, {}],
    ['authorization-expired', {}, { expiresAtMs: NOW_MS - 5_000 }],
    ['authorization-expired', {}, { expiresAtMs: NOW_MS, isGranted: true }],
    ['policy-outdated', { notBeforeVersion: 4 }, {}],
    ['unknown-tool', { tool: undefined }, {}],
    ['tool-disabled', { tool: tool({}, { disabled: { by: 'olga', reason: 'x' } }) }, {}],
    ['definition-changed', {}, { definitionHash: 'other' }],
    [
      'definition-changed',
      {
        tool: tool(
          {},
          { seen: { hash: 'new', definition: definitionOf('erp', { name: 'post', inputSchema: {} }, undefined) } },
        ),
      },
      {},
    ],
    ['tool-unavailable', { tool: tool({}, { obstacle: 'away' }) }, {}],
  ])('is answered not-dispatched (%s)', (reason, given, change) => {
    expect(decide(given, change)).toMatchObject({
      kind: 'close',
      effect: { state: 'not-dispatched', round: 1, reason },
      completion: { status: 'not-dispatched', reason },
    });
  });

  it('may be late by the skew of two clocks, but not past the end of a grant', () => {
    expect(decide({}, { expiresAtMs: NOW_MS - 4_999 }).kind).toBe('start');
    expect(decide({}, { expiresAtMs: NOW_MS - 1, isGranted: true }).kind).toBe('close');
    expect(decide({}, { expiresAtMs: NOW_MS + 1, isGranted: true }).kind).toBe('start');
  });

  it('with arguments that the pinned schema refuses is answered with what is wrong', () => {
    expect(decide({ argumentProblems: ['`amount` is missing'] })).toMatchObject({
      completion: { status: 'not-dispatched', reason: 'invalid-arguments', result: { text: '`amount` is missing' } },
    });
  });

  it('changes nothing when it comes again, whatever became of the call', () => {
    for (const existing of [
      entry('intent'),
      entry('succeeded'),
      entry('unknown'),
      notDispatched(permit(), 'x', NOW_MS),
    ])
      expect(decide({ existing })).toEqual({ kind: 'same' });
    expect(decide({ existing: entry('intent', { round: 2 }) })).toEqual({ kind: 'same' });
  });

  it('of a later round takes over a not-dispatched entry only', () => {
    const existing = notDispatched(permit({ digest: 'other' }), 'authorization-expired', NOW_MS);
    expect(decide({ existing }, { round: 2 }).kind).toBe('start');
    expect(decide({ existing: entry('intent') }, { round: 2 })).toEqual({ kind: 'same' });
    expect(decide({ existing: entry('succeeded') }, { round: 2 }).kind).toBe('stored');
  });

  it('S03: of another payload under a bound key is a mismatch, answered only in a new round', () => {
    expect(decide({ existing: entry('succeeded') }, { digest: 'digest-2' })).toEqual({
      kind: 'mismatch',
      isNewRound: false,
    });
    expect(decide({ existing: entry('succeeded') }, { digest: 'digest-2', round: 2 })).toEqual({
      kind: 'mismatch',
      isNewRound: true,
    });
    expect(decide({ existing: entry('intent') }, { digest: 'digest-2', round: 2 })).toEqual({
      kind: 'mismatch',
      isNewRound: true,
    });
  });
});

describe('a business key', () => {
  const claim = (change: Partial<BusinessClaim> = {}): BusinessClaim => ({
    callId: 'another-call',
    payloadHash: 'payload-1',
    state: 'succeeded',
    result: { text: 'DOC-1' },
    ...change,
  });

  it('gives the first result for the same payload, without an attempt', () => {
    expect(decide({ claim: claim() })).toMatchObject({
      kind: 'close',
      effect: { state: 'succeeded', isDeduplicated: true, attempt: 0 },
      completion: { status: 'succeeded', result: { text: 'DOC-1' } },
    });
  });

  it.each<[string, Partial<BusinessClaim>, boolean]>([
    ['business-key-used', { payloadHash: 'other' }, false],
    ['business-key-used', { payloadHash: 'other', state: 'open' }, false],
    ['business-key-open', { state: 'open', result: null }, true],
    ['business-key-unknown', { state: 'unknown', result: null }, false],
  ])('is refused (%s)', (reason, change, isRetryable) => {
    expect(decide({ claim: claim(change) })).toMatchObject({
      effect: { state: 'not-dispatched' },
      completion: { status: 'not-dispatched', reason, isRetryable, result: { text: expect.any(String) } },
    });
  });

  it('that this very call holds is no obstacle', () => {
    expect(decide({ claim: claim({ callId: CALL, state: 'open' }) }).kind).toBe('start');
  });
});

describe('the stored end of a call', () => {
  it('is told with its result', () => {
    expect(storedCompletion({ ...entry('succeeded'), reason: null }, { text: 'x' })).toEqual({
      status: 'succeeded',
      isRetryable: false,
      result: { text: 'x' },
    });
    expect(storedCompletion({ ...entry('unknown'), reason: 'timeout' }, undefined)).toMatchObject({
      status: 'unknown',
      reason: 'timeout',
    });
  });
});
