import type { Message } from '@lineclear/contracts';
import { AppendLog } from './append-log.js';
import { clearedOf, clearingGain, type Window } from './window.js';

/** A clearing that gives back less than this share of the trigger is not worth the rewritten prefix. */
const MINIMUM_GAIN = 0.25;

export interface ClearingSettings {
  readonly clearAtTokens: number;
  /** the newest results that stay; whole turns, and always the newest turn, which the model has not seen yet */
  readonly keepResults: number;
}

export interface Clearing {
  /** turns whose results are cleared now, ascending */
  readonly turns: readonly number[];
  readonly tokensBefore: number;
  readonly tokensAfter: number;
}

/** The clearing that is due before the next request, or undefined. O(results kept) unless there is one. */
export function planClearing(window: Window, settings: ClearingSettings): Clearing | undefined {
  if (window.tokens <= settings.clearAtTokens) return undefined;
  const kept = keptFrom(window, settings.keepResults);
  const gain = window.clearableTokens - kept.clearableTokens;
  if (gain === 0 || gain < settings.clearAtTokens * MINIMUM_GAIN) return undefined;
  const turns = new Set<number>();
  for (let i = 0; i < kept.index; i++) {
    const message = window.messages.at(i);
    if (message?.role === 'tool' && clearingGain(message) > 0) turns.add(message.turn);
  }
  return { turns: [...turns], tokensBefore: window.tokens, tokensAfter: window.tokens - gain };
}

/** The window with the results of these turns cleared: every message stays, in its place, with its call. */
export function clearTurns(window: Window, turns: readonly number[]): Window {
  const chosen = new Set(turns);
  let gained = 0;
  const messages = window.messages.toArray().map((message): Message => {
    if (message.role !== 'tool' || !chosen.has(message.turn)) return message;
    const gain = clearingGain(message);
    gained += gain;
    return gain > 0 ? clearedOf(message) : message;
  });
  return {
    messages: AppendLog.of(messages),
    tokens: window.tokens - gained,
    clearableTokens: window.clearableTokens - gained,
  };
}

/** Index of the first message of the turns that keep their results, and what clearing those would give back. */
function keptFrom(window: Window, keepResults: number): { readonly index: number; readonly clearableTokens: number } {
  let clearableTokens = 0;
  let results = 0;
  let turn: number | undefined;
  let index = window.messages.length;
  while (index > 0) {
    const message = window.messages.at(index - 1);
    if (message?.role === 'tool') {
      if (turn !== undefined && message.turn !== turn && results >= keepResults) break;
      turn = message.turn;
      results++;
      clearableTokens += clearingGain(message);
    }
    index--;
  }
  return { index, clearableTokens };
}
