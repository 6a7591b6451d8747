import { describe, expect, it } from 'vitest';
import { type Decider, fold, given, play } from './index.js';

type Door = 'open' | 'closed';
type DoorInput = 'push' | 'pull';

const door: Decider<DoorInput, Door, string> = {
  initial: 'closed',
  decide: (input, state) => {
    if (input === 'pull' && state === 'closed') throw new Error('stuck');
    return input === 'push' && state === 'closed' ? ['opened', 'creaked'] : [];
  },
  evolve: (state, output) => (output === 'opened' ? 'open' : state),
};

describe('decider', () => {
  it('folds outputs in order, from the initial or a given state', () => {
    expect(fold(door, ['opened'])).toBe('open');
    expect(fold(door, [], 'open')).toBe('open');
  });

  it('plays inputs and keeps all outputs', () => {
    expect(play(door, ['push', 'push'])).toEqual({ state: 'open', outputs: ['opened', 'creaked'] });
  });
});

describe('given / when / then', () => {
  it('accepts exactly the outputs that came', () => {
    given(door).when('push').then(['opened', 'creaked']);
    given(door, 'push').when('push').then([]);
    given(door)
      .when('push')
      .thenSeen((output) => output.length, [6, 7]);
  });

  it('fails when an output is missing, extra or out of order', () => {
    expect(() => given(door).when('push').then(['opened'])).toThrow(/deep-equal/);
    expect(() => given(door).when('push').then(['creaked', 'opened'])).toThrow(/deep-equal/);
    expect(() => given(door, 'push').when('push').then(['opened'])).toThrow(/deep-equal/);
  });

  it('tells an expected throw from none', () => {
    given(door).whenThrows('pull', (error) => String(error).includes('stuck'));
    expect(() => given(door).whenThrows('push', () => true)).toThrow(/Missing expected exception/);
  });

  it('shows the state before and after', () => {
    const before = given(door);
    expect([before.state, before.when('push').state]).toEqual(['closed', 'open']);
  });
});
