import { Controller, Get, Module, Param } from '@nestjs/common';
import { NotFoundError } from '@lineclear/errors';
import {
  currentTraceparent,
  metricsText,
  startTelemetry,
  type Telemetry,
  type TelemetryOptions,
} from '@lineclear/telemetry';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createHttpApp, type HttpApp } from './http-app.js';
import { Public } from './principal.js';

@Controller('v1/things')
@Public()
class ThingsController {
  @Get(':id')
  show(@Param('id') id: string) {
    if (id === 'none') throw new NotFoundError('no such thing');
    return { traceparent: currentTraceparent() };
  }
}

@Module({ controllers: [ThingsController] })
class ThingsModule {}

type Exporter = NonNullable<TelemetryOptions['exporter']>;
type ExportedSpan = Parameters<Exporter['export']>[0][number];

describe('the trace of a request', () => {
  const spans: ExportedSpan[] = [];
  let telemetry: Telemetry;
  let http: HttpApp;

  beforeAll(async () => {
    const exporter: Exporter = {
      export: (batch, done) => {
        spans.push(...batch);
        done({ code: 0 });
      },
      forceFlush: async () => undefined,
      shutdown: async () => undefined,
    };
    telemetry = startTelemetry({ service: 'test', exporter });
    http = await createHttpApp(ThingsModule, {
      service: 'things',
      bodyLimitBytes: 1000,
      logger: false,
      failed: () => undefined,
      verifier: { verify: () => Promise.reject(new Error('not asked')) },
    });
    await http.app.init();
    await http.fastify.ready();
  });

  afterAll(async () => {
    await http.app.close();
    await telemetry.shutdown();
  });

  const traceId = '0af7651916cd43dd8448eb211c80319c';
  const headers = { traceparent: `00-${traceId}-b7ad6b7169203331-01` };

  it('goes on where the caller is, into the work of the route', async () => {
    const answer = await http.fastify.inject({ method: 'GET', url: '/v1/things/1', headers });
    const { traceparent } = answer.json<{ traceparent: string }>();
    await telemetry.flush();
    const span = spans.find(({ name }) => name === 'GET /v1/things/:id');
    expect(span?.spanContext().traceId).toBe(traceId);
    expect(span?.attributes).toMatchObject({ 'http.route': '/v1/things/:id', 'http.response.status_code': 200 });
    expect(traceparent).toBe(`00-${traceId}-${span?.spanContext().spanId}-01`);
  });

  it('is named in a problem', async () => {
    const answer = await http.fastify.inject({ method: 'GET', url: '/v1/things/none', headers });
    expect(answer.json()).toMatchObject({ traceId });
    const alone = await http.fastify.inject({ method: 'GET', url: '/v1/things/none' });
    expect(alone.json<{ traceId: string }>().traceId).toMatch(/^(?!0af7)[0-9a-f]{32}$/);
  });

  it('counts the time of requests by route', async () => {
    expect(await metricsText()).toMatch(/http_server_request_duration.*http_route="\/v1\/things\/:id"/);
  });
});
