import type { ModelCall } from './model.js';

/** How a call ended, as the model is told. Everything but `succeeded` reads as a tool error. */
export type CallOutcome =
  | 'succeeded'
  | 'failed'
  | 'unknown'
  | 'denied'
  | 'refused'
  | 'expired'
  | 'not-dispatched'
  | 'cancelled';

export interface UserMessage {
  readonly role: 'user';
  readonly text: string;
}

export interface AssistantMessage {
  readonly role: 'assistant';
  readonly turn: number;
  readonly text: string;
  /** `id` is our call id, unique over the run, whatever the provider sent */
  readonly calls: readonly ModelCall[];
}

/** INVARIANT: exactly one per call of the assistant message before it, in the order of the calls (I6). */
export interface ToolMessage {
  readonly role: 'tool';
  readonly turn: number;
  readonly callId: string;
  /** canonical name, or what the model wrote when there is no such tool */
  readonly tool: string;
  readonly outcome: CallOutcome;
  readonly text: string;
  readonly structured?: unknown;
  /** the text was cleared to save context; the call stays listed */
  readonly cleared?: boolean;
}

export type Message = UserMessage | AssistantMessage | ToolMessage;
