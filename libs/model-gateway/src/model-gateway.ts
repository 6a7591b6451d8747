import type { Message, ModelReply, Price, ToolView, Usage } from '@lineclear/contracts';
import {
  type AppError,
  CancelledError,
  type Failure,
  InvalidMessageError,
  NotFoundError,
  toFailure,
} from '@lineclear/errors';
import { withModelSpan } from './model-span.js';

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

/** The gateway over the given providers, one per name. */
export function createModelGateway(providers: readonly ModelProvider[]): ModelGateway {
  const byName = new Map(providers.map((provider) => [provider.name, provider]));
  const routes = providers.flatMap(({ name, models }) => models.map((model) => `${name}/${model}`)).toSorted();

  const find = (route: string) => {
    const cut = route.indexOf('/');
    const provider = byName.get(route.slice(0, Math.max(cut, 0)));
    const model = route.slice(cut + 1);
    return provider === undefined || model === '' ? undefined : { provider, model };
  };

  return {
    routes: () => routes,
    describe(route) {
      const found = find(route);
      return found?.provider.describe(found.model);
    },
    async call(request, signal) {
      const found = find(request.route);
      if (!found) return failed(unknownProvider(request.route, [...byName.keys()]));
      if (!found.provider.describe(found.model)) return failed(unknownModel(request.route, routes));
      const { provider, model } = found;
      return withModelSpan(provider.name, model, request, () =>
        outcomeOf(provider.call(model, request, signal), signal),
      );
    },
  };
}

async function outcomeOf(call: Promise<ModelOutcome>, signal: AbortSignal): Promise<ModelOutcome> {
  try {
    return await call;
  } catch (error) {
    if (signal.aborted) throw new CancelledError('the model call was stopped', { cause: error });
    return failed(error);
  }
}

const failed = (error: unknown): ModelOutcome => ({ status: 'failed', failure: toFailure(error) });

function unknownProvider(route: string, names: readonly string[]): AppError {
  return new InvalidMessageError(
    'invalid-message',
    `model \`${route}\` names no known provider; expected \`<provider>/<model>\` with a provider of ${listed(names)}`,
    { details: { seen: route, expected: names } },
  );
}

function unknownModel(route: string, routes: readonly string[]): AppError {
  return new NotFoundError(`model \`${route}\` does not exist; expected one of ${listed(routes)}`, {
    details: { seen: route, expected: routes },
  });
}

const listed = (names: readonly string[]): string =>
  names.length === 0 ? 'none (no model is configured)' : names.map((name) => `\`${name}\``).join(', ');
