import type { Message } from '@lineclear/contracts';
import { describe, expect, it } from 'vitest';
import { appendMessages, EMPTY_WINDOW, estimateTokens, messageTokens, worstCaseTokens } from './index.js';

describe('token estimate', () => {
  it('counts UTF-8 bytes, not characters', () => {
    expect([estimateTokens(''), estimateTokens('abc'), estimateTokens('abcd'), estimateTokens('北京')]).toEqual([
      0, 1, 2, 2,
    ]);
  });

  it('counts a reply with its calls, and a result by its text', () => {
    const reply: Message = {
      role: 'assistant',
      turn: 1,
      text: 'abc',
      calls: [{ id: 'x', tool: 'abc', argumentsText: '{"a":1}' }],
    };
    const result: Message = {
      role: 'tool',
      turn: 1,
      callId: 'x',
      tool: 'abc',
      outcome: 'succeeded',
      text: 'abc',
      structured: { big: 'x'.repeat(1000) },
    };
    expect([messageTokens(reply), messageTokens(result)]).toEqual([4 + 1 + 4 + 1 + 3, 5]);
    const window = appendMessages(EMPTY_WINDOW, [reply, result]);
    expect(window.tokens).toBe(18);
  });

  it('reserves half as much again', () => {
    expect([worstCaseTokens(0), worstCaseTokens(1), worstCaseTokens(1000)]).toEqual([0, 2, 1500]);
  });
});
