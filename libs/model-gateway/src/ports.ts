import type { Message, ModelReply, Price, ToolView, Usage } from '@lineclear/contracts';
import type { Failure } from '@lineclear/errors';

/** One model call, whatever the provider. Messages and tools are in the order in which they must be sent: equal prefixes stay byte-identical. */
export interface ModelRequest {
  /** `<provider>/<model>` */
  readonly route: string;
  readonly system: string;
  readonly messages: readonly Message[];
  readonly tools: readonly ToolView[];
  /** The reply is cut here; what was reserved for it. */
  readonly maxOutputTokens: number;
  /** The task's input as the upstream system sent it. */
  readonly task: Readonly<Record<string, unknown>>;
  /** The turn that this reply would open, from 1. */
  readonly turn: number;
  /** Counts the model calls of the run, from 1. */
  readonly step: number;
  /** Counts the tries of this step, from 1. */
  readonly attempt: number;
  readonly tenant: string;
  readonly runId: string;
  readonly agent: string;
  readonly conversationId?: string;
}

/** `malformed`: the provider answered and billed, but with nothing that may be used. `failed`: its own retries are spent already. */
export type ModelOutcome =
  | { readonly status: 'succeeded'; readonly reply: ModelReply; readonly usage: Usage }
  | { readonly status: 'malformed'; readonly reason: string; readonly usage: Usage }
  | { readonly status: 'failed'; readonly failure: Failure };

export interface ModelDescription {
  /** null: unknown, so that a run with a money budget must refuse the model */
  readonly price: Price | null;
  readonly maxOutputTokens: number;
}

export interface ModelGateway {
  /** Never rejects but with CancelledError, when `signal` aborts; every other trouble is an outcome. */
  call(request: ModelRequest, signal: AbortSignal): Promise<ModelOutcome>;
  /** undefined: no such provider or model */
  describe(route: string): ModelDescription | undefined;
  /** All routes that can be named beforehand, sorted; for messages. */
  routes(): readonly string[];
}

/**
 * What an adapter of one provider offers. It turns the request into the provider's format and back into the normal form: calls with their raw argument text,
 * disjoint token counts, a stop reason. Retries, Retry-After and time-outs are its own business, within `signal`.
 * INVARIANT: a reply that was cut off or does not parse is `malformed` or has stop reason `length`, never repaired.
 */
export interface ModelProvider {
  /** First part of a route. */
  readonly name: string;
  /** Models that can be named beforehand; empty where any name is passed on. */
  readonly models: readonly string[];
  describe(model: string): ModelDescription | undefined;
  call(model: string, request: ModelRequest, signal: AbortSignal): Promise<ModelOutcome>;
}
