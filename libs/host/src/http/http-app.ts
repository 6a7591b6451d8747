import { type DynamicModule, type LoggerService, type Type, UnsupportedMediaTypeException } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import type { FastifyInstance } from 'fastify';
import { AuthGuard, type TokenVerifier } from './auth-guard.js';
import { parseJsonBody } from './json-body.js';
import { ProblemFilter, type ProblemFilterOptions } from './problem-filter.js';
import { RequestTrace } from './request-trace.js';
import { takesRawBody } from './raw-body.js';
import { SchemaValidationPipe } from './validation-pipe.js';

export interface HttpAppOptions extends Omit<ProblemFilterOptions, 'traceId'> {
  readonly service: string;
  readonly verifier: TokenVerifier;
  readonly logger: LoggerService | false;
}

export interface Route {
  readonly method: string;
  /** as Fastify writes it: `/v1/runs/:id` */
  readonly path: string;
}

export interface HttpApp {
  readonly app: NestFastifyApplication;
  readonly fastify: FastifyInstance;
  /** complete after `app.init()` */
  readonly routes: readonly Route[];
}

const JSON_TYPES = ['application/json', 'application/cloudevents+json'];
const OTHER_TYPES = ['application/x-www-form-urlencoded', '*'];

/** A Nest application on Fastify with the house rules of HTTP: tokens, checked bodies, problems. Not yet initialised or listening. */
export async function createHttpApp(module: DynamicModule | Type, options: HttpAppOptions): Promise<HttpApp> {
  const adapter = new FastifyAdapter({
    bodyLimit: options.bodyLimitBytes,
    forceCloseConnections: 'idle',
    routerOptions: { maxParamLength: 512 },
  });
  const fastify: FastifyInstance = adapter.getInstance();
  const routes: Route[] = [];
  fastify.addHook('onRoute', ({ method, path }) => {
    for (const name of [method].flat()) routes.push({ method: name, path });
  });
  const trace = new RequestTrace(options.service, fastify);
  const app = await NestFactory.create<NestFastifyApplication>(module, adapter, {
    logger: options.logger,
    abortOnError: false,
    bufferLogs: false,
  });
  app.useBodyParser(JSON_TYPES, { bodyLimit: options.bodyLimitBytes }, (request, body, done) => {
    try {
      done(null, takesRawBody(request) ? body : parseJsonBody(body));
    } catch (error) {
      done(error as Error, undefined);
    }
  });
  app.useBodyParser(OTHER_TYPES, { bodyLimit: options.bodyLimitBytes }, (request, body, done) => {
    if (takesRawBody(request)) done(null, body);
    else done(new UnsupportedMediaTypeException(), undefined);
  });
  app.useGlobalGuards(new AuthGuard(options.verifier));
  app.useGlobalPipes(new SchemaValidationPipe());
  app.useGlobalFilters(new ProblemFilter({ ...options, traceId: (request) => trace.idOf(request) }));
  return { app, fastify, routes };
}
