import { randomUUID } from 'node:crypto';
import { currentTraceparent, meterOf, tracerOf, withRemoteContext } from '@lineclear/telemetry';
import type { FastifyInstance, FastifyRequest } from 'fastify';

/** SpanKind.SERVER */
const SERVER = 1;
const UNTRACED = new Set(['/health', '/ready', '/metrics']);

type Span = ReturnType<ReturnType<typeof tracerOf>['startSpan']>;

interface Traced {
  readonly span: Span | undefined;
  readonly traceparent: string | undefined;
  readonly traceId: string;
}

/** One SERVER span and one duration per request; the work of a route belongs to its span. */
export class RequestTrace {
  readonly #traced = new WeakMap<object, Traced>();

  constructor(
    private readonly service: string,
    fastify: FastifyInstance,
  ) {
    const duration = meterOf(service).createHistogram('http.server.request.duration', { unit: 's' });
    fastify.addHook('onRequest', (request, _reply, done) => {
      this.#traced.set(request, this.#begin(request));
      done();
    });
    fastify.addHook('preHandler', (request, _reply, done) => {
      withRemoteContext(this.#traced.get(request)?.traceparent, done);
    });
    fastify.addHook('onResponse', (request, reply, done) => {
      const attributes = {
        'http.request.method': request.method,
        'http.route': request.routeOptions.url ?? '',
        'http.response.status_code': reply.statusCode,
      };
      duration.record(reply.elapsedTime / 1_000, attributes);
      this.#traced.get(request)?.span?.setAttributes(attributes).end();
      done();
    });
  }

  /** Trace id of a request; a random one when nothing is traced, so that log and answer still name the same. */
  idOf(request: object): string {
    return this.#traced.get(request)?.traceId ?? newId();
  }

  #begin(request: FastifyRequest): Traced {
    const route = request.routeOptions.url ?? '';
    if (UNTRACED.has(route)) return { span: undefined, traceparent: undefined, traceId: newId() };
    const header = request.headers['traceparent'];
    const name = `${request.method} ${route}`.trim();
    return withRemoteContext(typeof header === 'string' ? header : undefined, () =>
      tracerOf(this.service).startActiveSpan(name, { kind: SERVER }, (span) => {
        const traceparent = currentTraceparent();
        return { span, traceparent, traceId: traceparent?.split('-')[1] ?? newId() };
      }),
    );
  }
}

const newId = (): string => randomUUID().replaceAll('-', '');
