import { TestWorld, type TestWorldOptions } from '@lineclear/messaging/testing';
import { type DatabaseConfig, createDataSource } from '@lineclear/persistence';
import type { DataSource } from 'typeorm';
import { bootService } from '../boot/boot-service.js';
import type { Environment, InternalRequest, RunningService, ServiceDefinition } from '../service-definition.js';
import { type Caller, testIdentity } from './test-identity.js';

export interface HostedOptions extends Pick<TestWorldOptions, 'database' | 'wrap'> {
  readonly environment?: Environment;
  /** 0: listens on a free port too, for streams */
  readonly port?: number;
}

export interface HostedAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** parsed when it is JSON, else the text */
  readonly body: unknown;
}

/** One service as the product runs it, on a real database and bus, with an HTTP caller and the pen of all other services. */
export interface HostedService {
  readonly world: TestWorld;
  /** the one that runs now */
  readonly service: RunningService;
  /** the service's own tables */
  readonly dataSource: DataSource;
  token(caller: Caller): Promise<string>;
  /** `caller` null: without a token; a body that is no text is sent as JSON */
  call(caller: Caller | null, method: InternalRequest['method'], url: string, body?: unknown): Promise<HostedAnswer>;
  /** Stops the service, lets `meanwhile` happen, and boots it again. */
  restart(meanwhile?: () => Promise<void>): Promise<void>;
  stop(): Promise<void>;
}

/** Boots a service definition by the host itself. `database` is an empty one of the test's own, as its superuser. */
export async function startHosted<C>(
  definition: ServiceDefinition<C>,
  { database, wrap, environment = {}, port }: HostedOptions,
): Promise<HostedService> {
  const world = await TestWorld.open({ database, services: [definition.name], ...(wrap !== undefined && { wrap }) });
  const identity = await testIdentity();
  const own: DatabaseConfig = await world.databaseOf(definition.name, definition.migrations);
  const boot = (): Promise<RunningService> =>
    bootService(definition, {
      environment: { LOG_LEVEL: 'silent', ...environment },
      database: own,
      bus: world.bus,
      verifier: identity.verifier,
      ...(port !== undefined && { port }),
    });
  let service = await boot();
  const dataSource = await createDataSource(own, []);
  return {
    world,
    get service() {
      return service;
    },
    dataSource,
    token: (caller) => identity.token(caller),
    call: async (caller, method, url, body) => {
      const headers = {
        ...(caller !== null && { authorization: `Bearer ${await identity.token(caller)}` }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
      };
      const text = typeof body === 'string' ? body : JSON.stringify(body);
      const answer = await service.inject({ method, url, headers, ...(text !== undefined && { body: text }) });
      return { ...answer, body: isJson(answer.headers) ? JSON.parse(answer.body) : answer.body };
    },
    restart: async (meanwhile) => {
      await service.stop();
      await meanwhile?.();
      service = await boot();
    },
    stop: async () => {
      await dataSource.destroy();
      await service.stop();
      await world.close();
    },
  };
}

const isJson = (headers: Readonly<Record<string, string>>): boolean =>
  /^application\/(problem\+)?json(;|$)/.test(headers['content-type'] ?? '');
