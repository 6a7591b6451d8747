import type { Message } from '@lineclear/contracts';
import { AppendLog } from './append-log.js';
import { messageTokens } from './tokens.js';

/** The messages of the next request. INVARIANT: append-only, byte-identical below its length, but for a clearing. */
export interface Window {
  readonly messages: AppendLog<Message>;
  /** estimate of all messages */
  readonly tokens: number;
  /** estimate of the results that are not cleared */
  readonly resultTokens: number;
}

export const EMPTY_WINDOW: Window = { messages: AppendLog.of([]), tokens: 0, resultTokens: 0 };

/** O(messages added). */
export function appendMessages(window: Window, added: readonly Message[]): Window {
  let { tokens, resultTokens } = window;
  for (const message of added) {
    const estimate = messageTokens(message);
    tokens += estimate;
    if (message.role === 'tool' && message.cleared !== true) resultTokens += estimate;
  }
  return { messages: window.messages.append(...added), tokens, resultTokens };
}
