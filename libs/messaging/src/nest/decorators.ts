import 'reflect-metadata';
import type { JobKind, Patterns } from '../lane/handlers.js';

/** CAUTION: read by the transport strategy; one class method carries at most one of each. */
export const HANDLES = Symbol('lineclear:handles');
export const EXECUTES = Symbol('lineclear:executes');

export interface HandlesMetadata {
  readonly patterns: Patterns;
  readonly batch: boolean;
}

/**
 * Binds a controller method to lane inputs. With `batch: true` the method is a BatchHandler `(inputs, batch)`, else a SingleHandler
 * `(input, context)`. Guards, pipes and interceptors of the method apply once per dispatch, as in any Nest microservice.
 */
export function Handles(patterns: Patterns, options: { batch?: boolean } = {}): MethodDecorator {
  const metadata: HandlesMetadata = { patterns, batch: options.batch ?? false };
  return (target, property, descriptor) => {
    Reflect.defineMetadata(HANDLES, metadata, descriptor.value ?? target, property);
  };
}

/** Binds a controller method `(job, signal)` as the executor of a job kind. */
export function ExecutesJob(kind: JobKind): MethodDecorator {
  return (target, property, descriptor) => {
    Reflect.defineMetadata(EXECUTES, kind, descriptor.value ?? target, property);
  };
}
