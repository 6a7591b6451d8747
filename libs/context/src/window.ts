import type { Message, ToolMessage } from '@lineclear/contracts';
import { AppendLog } from './append-log.js';
import { messageTokens } from './tokens.js';

/** The messages of the next request. INVARIANT: append-only, byte-identical below its length, but for a clearing. */
export interface Window {
  readonly messages: AppendLog<Message>;
  /** estimate of all messages */
  readonly tokens: number;
  /** estimate of what clearing every result would give back */
  readonly clearableTokens: number;
}

export const EMPTY_WINDOW: Window = { messages: AppendLog.of([]), tokens: 0, clearableTokens: 0 };

/** CAUTION: part of recorded requests; another text changes every window that is rebuilt. */
const CLEARED_TEXT = '[result cleared to save context]';

/** O(messages added). */
export function appendMessages(window: Window, added: readonly Message[]): Window {
  let { tokens, clearableTokens } = window;
  for (const message of added) {
    tokens += messageTokens(message);
    clearableTokens += clearingGain(message);
  }
  return { messages: window.messages.append(...added), tokens, clearableTokens };
}

/** Tokens that clearing this message gives back; 0 for what is no result, cleared already, or as short as the note in its place. */
export function clearingGain(message: Message): number {
  if (message.role !== 'tool' || message.cleared === true || message.text.length <= CLEARED_TEXT.length) return 0;
  return messageTokens(message) - messageTokens(clearedOf(message));
}

/** The call stays listed with its outcome; only what it answered goes. */
export function clearedOf({ role, turn, callId, tool, outcome }: ToolMessage): ToolMessage {
  return { role, turn, callId, tool, outcome, text: CLEARED_TEXT, cleared: true };
}
