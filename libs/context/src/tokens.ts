import type { Message } from '@lineclear/contracts';

/** What a message costs beside its text: role, separators, the frame of a call. */
const FRAME_TOKENS = 4;

/**
 * The one estimate of this product: one token per 3 UTF-8 bytes, rounded up. English prose has about 4 bytes a token, JSON and Chinese about 3;
 * only `clearAtTokens` and charges for unreported usage rest on it.
 */
export function estimateTokens(text: string): number {
  return Math.ceil(Buffer.byteLength(text) / 3);
}

/** Estimate of one message as it is sent. A result's `structured` value is for programs; the model gets the text. */
export function messageTokens(message: Message): number {
  if (message.role !== 'assistant') return FRAME_TOKENS + estimateTokens(message.text);
  let tokens = FRAME_TOKENS + estimateTokens(message.text);
  for (const call of message.calls)
    tokens += FRAME_TOKENS + estimateTokens(call.tool) + estimateTokens(call.argumentsText);
  return tokens;
}

/** Input tokens to reserve for an estimate: half as much again (one token per 2 bytes), which text with many digits can reach. */
export function worstCaseTokens(estimate: number): number {
  return Math.ceil(estimate * 1.5);
}
