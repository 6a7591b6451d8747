import type { DynamicModule, Type } from '@nestjs/common';
import type { ServiceName } from '@lineclear/contracts';
import type { Bus } from '@lineclear/messaging';
import type { DatabaseConfig, Migration } from '@lineclear/persistence';

export type Environment = Readonly<Record<string, string | undefined>>;

/** All that a service is to its host. `config` fails at boot with what, where and expected; `module` is wiring only. */
export interface ServiceDefinition<C = unknown> {
  readonly name: ServiceName;
  readonly migrations: readonly Migration[];
  config(environment: Environment): C;
  module(config: C): DynamicModule | Type;
}

export interface HostOptions {
  readonly environment: Environment;
  readonly database: DatabaseConfig;
  readonly bus: Bus;
  /** undefined: no port of its own, requests come through the front port (standalone); 0: a free one */
  readonly port?: number;
}

export interface RunningService {
  readonly name: ServiceName;
  readonly url: string | undefined;
  /** Fastify's router, for the front port. */
  route(request: unknown, response: unknown): void;
  ready(): Promise<{ readonly ready: boolean; readonly reasons: readonly string[] }>;
  stop(): Promise<void>;
}

/** Injection tokens that the host provides to every service. */
export const DATA_SOURCE = Symbol('DATA_SOURCE');
export const LOGGER = Symbol('LOGGER');
/** An AbortSignal that fires when the service begins to stop: streams to clients end then. */
export const CLOSING = Symbol('CLOSING');
