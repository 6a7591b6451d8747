import type { DynamicModule, Type } from '@nestjs/common';
import type { ServiceName } from '@lineclear/contracts';
import type { Bus, LaneGroup } from '@lineclear/messaging';
import type { DatabaseConfig, Installation, Migration } from '@lineclear/persistence';
import type { Logger } from '@lineclear/telemetry';
import type { OpenApiDocument } from './docs/openapi.js';
import type { TokenVerifier } from './http/auth-guard.js';
import type { Route } from './http/http-app.js';

export type Environment = Readonly<Record<string, string | undefined>>;

/** All that a service is to its host. `config` fails at boot with what, where and expected; `module` is wiring only. */
export interface ServiceDefinition<C = unknown> {
  readonly name: ServiceName;
  /** a batch begins at least this long after the one before, so that few commits carry many inputs; for services that no run waits for; default 0 */
  readonly gatherMs?: number;
  readonly migrations: readonly Migration[];
  config(environment: Environment): C;
  module(config: C): DynamicModule | Type;
}

export interface HostOptions {
  readonly environment: Environment;
  /** the service's own role and schema, which exists */
  readonly database: DatabaseConfig;
  readonly bus: Bus;
  /** services of one process that take their turns together; a service that gathers stays by itself */
  readonly group?: LaneGroup;
  readonly verifier: TokenVerifier;
  /** what the schema must belong to; left out: not checked (tests) */
  readonly installation?: Installation;
  /** default: to standard error, at LOG_LEVEL */
  readonly log?: Logger;
  /** undefined: no port of its own, requests come through the front port (standalone); 0: a free one */
  readonly port?: number;
  /** address to listen on; default 127.0.0.1 */
  readonly host?: string;
  /** default 1 MiB */
  readonly bodyLimitBytes?: number;
  /** how long a stop waits for open jobs; default 7,000, so that the whole stop stays below 10 s */
  readonly drainMs?: number;
}

export interface InternalRequest {
  readonly method: 'GET' | 'POST';
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

export interface InternalAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface RunningService {
  readonly name: ServiceName;
  readonly url: string | undefined;
  /** every route that it serves, as registered */
  readonly routes: readonly Route[];
  /** Fastify's router, for the front port: node's request and response */
  route(request: unknown, response: unknown): void;
  /** a request inside the process, through the same guards and filters */
  inject(request: InternalRequest): Promise<InternalAnswer>;
  openApi(): OpenApiDocument;
  ready(): Promise<{ readonly ready: boolean; readonly reasons: readonly string[] }>;
  /** resolves with the reason when the service cannot go on; the process should end */
  readonly failed: Promise<unknown>;
  /** Ends streams, finishes requests, drains the lane, closes the pool. May be called again. */
  stop(): Promise<void>;
}

/** Injection tokens that the host provides to every service. */
export const DATA_SOURCE = Symbol('DATA_SOURCE');
export const LOGGER = Symbol('LOGGER');
/** An AbortSignal that fires when the service begins to stop: streams to clients end then. */
export const CLOSING = Symbol('CLOSING');
