import { type AppError, CancelledError, InvalidMessageError, NotFoundError, toFailure } from '@lineclear/errors';
import { withModelSpan } from './model-span.js';
import type { ModelGateway, ModelOutcome, ModelProvider } from './ports.js';

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
