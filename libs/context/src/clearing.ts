import type { Message, ToolMessage } from '@lineclear/contracts';
import { messageTokens } from './tokens.js';
import { appendMessages, EMPTY_WINDOW, type Window } from './window.js';

/** CAUTION: part of recorded requests; another text changes every window that is rebuilt. */
const CLEARED_TEXT = '[result cleared to save context]';

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
  if (window.resultTokens - kept.tokens < settings.clearAtTokens * MINIMUM_GAIN) return undefined;
  const turns = new Set<number>();
  for (let i = 0; i < kept.index; i++) {
    const message = window.messages.at(i);
    if (message !== undefined && isClearable(message)) turns.add(message.turn);
  }
  const after = clearTurns(window, [...turns]);
  const gain = window.tokens - after.tokens;
  if (gain < settings.clearAtTokens * MINIMUM_GAIN) return undefined;
  return { turns: [...turns], tokensBefore: window.tokens, tokensAfter: after.tokens };
}

/** The window with the results of these turns cleared: every message stays, in its place, with its call. */
export function clearTurns(window: Window, turns: readonly number[]): Window {
  const chosen = new Set(turns);
  const messages = window.messages.toArray().map((message) => {
    return isClearable(message) && chosen.has(message.turn) ? clearedOf(message) : message;
  });
  return appendMessages(EMPTY_WINDOW, messages);
}

function isClearable(message: Message): message is ToolMessage {
  return message.role === 'tool' && message.cleared !== true;
}

function clearedOf({ role, turn, callId, tool, outcome }: ToolMessage): ToolMessage {
  return { role, turn, callId, tool, outcome, text: CLEARED_TEXT, cleared: true };
}

/** Index of the first message of the turns that keep their results, and the estimate of those results. */
function keptFrom(window: Window, keepResults: number): { readonly index: number; readonly tokens: number } {
  let tokens = 0;
  let results = 0;
  let turn: number | undefined;
  let index = window.messages.length;
  while (index > 0) {
    const message = window.messages.at(index - 1);
    if (message?.role === 'tool') {
      if (turn !== undefined && message.turn !== turn && results >= keepResults) break;
      turn = message.turn;
      results++;
      if (message.cleared === true) break;
      tokens += messageTokens(message);
    }
    index--;
  }
  return { index, tokens };
}
