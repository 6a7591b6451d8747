import type { Message, ToolMessage } from '@lineclear/contracts';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { appendMessages, clearTurns, EMPTY_WINDOW, planClearing, type Window } from './index.js';

const call = (turn: number, index: number) => ({ id: `c-${turn}-${index}`, tool: 'erp_get', argumentsText: '{}' });
const result = (turn: number, index: number, text: string): ToolMessage => ({
  role: 'tool',
  turn,
  callId: `c-${turn}-${index}`,
  tool: 'erp.get',
  outcome: 'succeeded',
  text,
  structured: { text },
});

/** One turn: the reply and the results of its parallel calls. */
function turnOf(turn: number, sizes: readonly number[]): Message[] {
  return [
    { role: 'assistant', turn, text: '', calls: sizes.map((_, index) => call(turn, index)) },
    ...sizes.map((size, index) => result(turn, index, 'x'.repeat(size))),
  ];
}

const windowOf = (turns: readonly (readonly number[])[]): Window =>
  appendMessages(EMPTY_WINDOW, [{ role: 'user', text: 'task' }, ...turns.flatMap((sizes, i) => turnOf(i + 1, sizes))]);

/** I6: every call has exactly one result, in order, right behind its reply; the first message is the task. */
function wellFormed(messages: readonly Message[]): boolean {
  if (messages[0]?.role !== 'user') return false;
  let open: string[] = [];
  for (const message of messages) {
    if (message.role === 'tool') {
      if (open.shift() !== message.callId) return false;
    } else if (open.length > 0) return false;
    if (message.role === 'assistant') open = message.calls.map(({ id }) => id);
  }
  return open.length === 0;
}

const history = fc.array(fc.array(fc.nat({ max: 3000 }), { minLength: 1, maxLength: 4 }), { maxLength: 40 });
const settings = fc.record({ clearAtTokens: fc.integer({ min: 1, max: 20_000 }), keepResults: fc.nat({ max: 8 }) });

describe('clearing of old results', () => {
  it('does nothing up to the trigger', () => {
    const window = windowOf([[300], [300]]);
    expect(planClearing(window, { clearAtTokens: window.tokens, keepResults: 0 })).toBeUndefined();
    expect(planClearing(window, { clearAtTokens: window.tokens - 1, keepResults: 0 })?.turns).toEqual([1]);
  });

  it('keeps the newest results by whole turns: parallel results stay together', () => {
    const window = windowOf([[3000], [3000, 3000, 3000], [3000]]);
    expect(planClearing(window, { clearAtTokens: 2000, keepResults: 2 })?.turns).toEqual([1]);
    expect(planClearing(window, { clearAtTokens: 2000, keepResults: 1 })?.turns).toEqual([1, 2]);
  });

  it('never clears the newest turn, which the model has not seen', () => {
    const window = windowOf([[3000], [3000, 3000]]);
    expect(planClearing(window, { clearAtTokens: 1000, keepResults: 0 })?.turns).toEqual([1]);
    expect(planClearing(windowOf([[9000]]), { clearAtTokens: 1000, keepResults: 0 })).toBeUndefined();
  });

  it('does not rewrite the prefix for a small gain', () => {
    const window = windowOf([[300], [9000]]);
    expect(planClearing(window, { clearAtTokens: 3000, keepResults: 1 })).toBeUndefined();
  });

  it('leaves alone what is as short as the note in its place', () => {
    const window = windowOf([[3], [5000], [3], [9]]);
    const clearing = planClearing(window, { clearAtTokens: 1000, keepResults: 1 });
    expect(clearing?.turns).toEqual([2]);
    expect(clearTurns(window, [1]).messages.toArray()).toEqual(window.messages.toArray());
  });

  it('does not look at the whole window again at each step when nothing can be cleared', () => {
    let window = EMPTY_WINDOW;
    for (let turn = 1; turn < 20_000; turn++) window = appendMessages(window, turnOf(turn, [2]));
    const started = process.cpuUsage();
    for (let i = 0; i < 10_000; i++)
      expect(planClearing(window, { clearAtTokens: 50_000, keepResults: 3 })).toBeUndefined();
    expect(process.cpuUsage(started).user).toBeLessThan(2_000_000);
  });

  it('shortens only the text: the call stays listed with its outcome', () => {
    const cleared = clearTurns(windowOf([[3000], [30]]), [1]).messages.toArray()[2];
    expect(cleared).toEqual({
      role: 'tool',
      turn: 1,
      callId: 'c-1-0',
      tool: 'erp.get',
      outcome: 'succeeded',
      text: '[result cleared to save context]',
      cleared: true,
    });
  });

  it('B19, scenario 27: on random histories no call loses its result, and a clearing pays', () => {
    fc.assert(
      fc.property(history, settings, (turns, chosen) => {
        const window = windowOf(turns);
        const clearing = planClearing(window, chosen);
        if (clearing === undefined) return;
        const after = clearTurns(window, clearing.turns);
        expect(wellFormed(after.messages.toArray())).toBe(true);
        expect(after.messages.length).toBe(window.messages.length);
        expect(after.tokens).toBe(clearing.tokensAfter);
        expect(clearing.tokensBefore - clearing.tokensAfter).toBeGreaterThanOrEqual(chosen.clearAtTokens / 4);
        expect(planClearing(after, chosen)).toBeUndefined();
        expect(after).toEqual(appendMessages(EMPTY_WINDOW, after.messages.toArray()));
        const kept = after.messages.toArray().filter((m) => m.role === 'tool' && m.cleared !== true);
        expect(kept.length).toBeGreaterThanOrEqual(Math.min(chosen.keepResults, turns.flat().length));
      }),
    );
  });

  it('scenario 31: between clearings the window is a byte prefix of the next one', () => {
    fc.assert(
      fc.property(history, settings, (turns, chosen) => {
        let window = EMPTY_WINDOW;
        for (const [i, sizes] of turns.entries()) {
          const before = JSON.stringify(window.messages.toArray()).slice(0, -1);
          window = appendMessages(window, turnOf(i + 1, sizes));
          expect(JSON.stringify(window.messages.toArray()).startsWith(before)).toBe(true);
          const clearing = planClearing(window, chosen);
          if (clearing !== undefined) window = clearTurns(window, clearing.turns);
        }
      }),
      { numRuns: 30 },
    );
  });
});
