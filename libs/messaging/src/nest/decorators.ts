import 'reflect-metadata';
import { applyDecorators, UseFilters } from '@nestjs/common';
import { Ctx, EventPattern, Payload } from '@nestjs/microservices';
import type { JobKind, Patterns } from '../lane/handlers.js';
import { RethrowFilter } from './rethrow-filter.js';

/** Only handlers of this transport are bound to a lane. */
export const LANE_TRANSPORT = Symbol('LANE_TRANSPORT');

/** What the decorators leave on a handler for the transport strategy. */
export type LaneExtras =
  | { readonly role: 'handler'; readonly name: string; readonly patterns: Patterns; readonly batch: boolean }
  | { readonly role: 'executor'; readonly name: string; readonly kind: JobKind };

/**
 * Binds a controller method to lane inputs. With `batch: true` the method is a BatchHandler `(inputs, batch)`, else a SingleHandler
 * `(input, context)`. Guards, pipes and interceptors of the method apply once per dispatch, as in any Nest microservice.
 */
export function Handles(patterns: Patterns, options: { batch?: boolean } = {}): MethodDecorator {
  return bind((name) => ({ role: 'handler', name, patterns, batch: options.batch ?? false }));
}

/** Binds a controller method `(job, signal)` as the executor of a job kind. */
export function ExecutesJob(kind: JobKind): MethodDecorator {
  return bind((name) => ({ role: 'executor', name, kind }));
}

/** Both arguments are named to Nest, which passes only the first by itself. One Nest pattern per method: Nest would chain two handlers of one pattern and run one of them twice. */
function bind(extrasOf: (name: string) => LaneExtras): MethodDecorator {
  return (target, property, descriptor) => {
    const name = `${target.constructor.name}.${String(property)}`;
    const lane = extrasOf(name);
    Payload()(target, property, 0);
    Ctx()(target, property, 1);
    return applyDecorators(
      EventPattern<string>(`lane/${lane.role}/${name}`, LANE_TRANSPORT, { lane }),
      UseFilters(RethrowFilter),
    )(target, property, descriptor);
  };
}
