import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { CancelledError, NotFoundError } from '@lineclear/errors';
import { SpanKind, SpanStatusCode } from '@opentelemetry/api';
import { InMemorySpanExporter } from '@opentelemetry/sdk-trace';
import { afterEach, describe, expect, it } from 'vitest';
import { createLogger } from './logger.js';
import { meterOf, metricsText, startTelemetry, type Telemetry, type TelemetryOptions, tracerOf } from './telemetry.js';
import { currentTraceparent, inSpan, linkTo, withRemoteContext } from './trace-context.js';

const REMOTE = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
let running: Telemetry | undefined;

function start(options: Partial<TelemetryOptions> = {}): InMemorySpanExporter {
  const exporter = new InMemorySpanExporter();
  running = startTelemetry({ service: 'standalone', version: '0.1.0', exporter, ...options });
  return exporter;
}

afterEach(async () => {
  await running?.shutdown();
  running = undefined;
});

describe('traces', () => {
  it('name the service of each span though all share one process', async () => {
    const exporter = start();
    for (const service of ['orchestrator', 'policy-engine'])
      await inSpan(tracerOf(service), 'work', {}, async () => undefined);
    await running?.flush();
    const services = exporter.getFinishedSpans().map((span) => span.resource.attributes['service.name']);
    expect(services).toEqual(['orchestrator', 'policy-engine']);
  });

  it('go on in the trace of a message', async () => {
    const exporter = start();
    const inside = await withRemoteContext(REMOTE, () =>
      inSpan(tracerOf('orchestrator'), 'process', { kind: SpanKind.CONSUMER }, async () => currentTraceparent()),
    );
    await running?.flush();
    const [span] = exporter.getFinishedSpans();
    expect(span?.parentSpanContext?.spanId).toBe('b7ad6b7169203331');
    expect(inside).toBe(`00-0af7651916cd43dd8448eb211c80319c-${span?.spanContext().spanId}-01`);
  });

  it.each([undefined, '', 'nonsense', '00-00000000000000000000000000000000-b7ad6b7169203331-01', `${REMOTE}\r\nx: y`])(
    'start anew for traceparent %j',
    async (traceparent) => {
      start();
      const [outer, nothing, inner] = await inSpan(tracerOf('a'), 'outer', {}, async () => [
        currentTraceparent(),
        withRemoteContext(traceparent, () => currentTraceparent()),
        await withRemoteContext(traceparent, () =>
          inSpan(tracerOf('a'), 'inner', {}, async () => currentTraceparent()),
        ),
      ]);
      expect(nothing).toBeUndefined();
      expect(inner).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/);
      expect(inner?.slice(0, 35)).not.toBe(outer?.slice(0, 35));
      expect(linkTo(traceparent)).toEqual([]);
    },
  );

  it('keep the context over awaits of work that runs at once', async () => {
    start();
    const one = async (name: string) =>
      inSpan(tracerOf('a'), name, {}, async () => {
        const before = currentTraceparent();
        await new Promise((resolve) => setImmediate(resolve));
        return before === currentTraceparent();
      });
    expect(await Promise.all(['x', 'y', 'z'].map(one))).toEqual([true, true, true]);
  });

  it('mark a failure by its code, without its text, and a cancel as no error', async () => {
    const exporter = start();
    const work = (error: unknown) =>
      inSpan(tracerOf('a'), 'work', {}, () => Promise.reject(error)).catch(() => undefined);
    await work(new NotFoundError('run `secret` is unknown'));
    await work(new CancelledError('stop'));
    await work(new TypeError('bug'));
    await running?.flush();
    const spans = exporter.getFinishedSpans();
    expect(spans.map(({ attributes }) => attributes['error.type'])).toEqual(['not-found', 'cancelled', 'TypeError']);
    expect(spans.map(({ status }) => status.code)).toEqual([
      SpanStatusCode.ERROR,
      SpanStatusCode.UNSET,
      SpanStatusCode.ERROR,
    ]);
    expect(
      JSON.stringify(spans.map(({ attributes, events, status }) => ({ attributes, events, status }))),
    ).not.toContain('secret');
  });

  it('make and pass on ids also when nothing is exported', async () => {
    running = startTelemetry({ service: 'standalone' });
    expect(await inSpan(tracerOf('a'), 'work', {}, async () => currentTraceparent())).toMatch(
      /^00-[0-9a-f]{32}-[0-9a-f]{16}-00$/,
    );
  });

  it('are named by log lines written inside them', async () => {
    start();
    const lines: string[] = [];
    const log = createLogger({ service: 'a', level: 'info', stream: { write: (line) => void lines.push(line) } });
    const traceparent = await inSpan(tracerOf('a'), 'work', {}, async () => {
      log.info('inside');
      return currentTraceparent();
    });
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({ traceId: traceparent?.split('-')[1] });
  });
});

describe('OTLP export', () => {
  async function receiver(status: number): Promise<{ server: Server; endpoint: string; bodies: string[] }> {
    const bodies: string[] = [];
    const server = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        bodies.push(`${request.method} ${request.url} ${Buffer.concat(chunks).toString()}`);
        response.writeHead(status, { 'content-type': 'application/json' }).end('{}');
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return { server, bodies, endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
  }

  it('sends spans to the endpoint', async () => {
    const { server, endpoint, bodies } = await receiver(200);
    running = startTelemetry({ service: 'standalone', otlpEndpoint: `${endpoint}/` });
    await inSpan(tracerOf('orchestrator'), 'invoke_agent clerk', {}, async () => undefined);
    await running.flush();
    expect(bodies[0]).toMatch(/^POST \/v1\/traces .*"name":"invoke_agent clerk"/);
    expect(bodies[0]).toContain('"orchestrator"');
    server.close();
  });

  it('does no harm when the receiver is away', async () => {
    const warnings: string[] = [];
    const log = { warn: (_: object, message: string) => void warnings.push(message) };
    running = startTelemetry({ service: 'standalone', otlpEndpoint: 'http://127.0.0.1:1', log: log as never });
    for (let at = 0; at < 20_000; at += 1) await inSpan(tracerOf('a'), 'work', {}, async () => undefined);
    const startedAt = performance.now();
    await running.shutdown();
    running = undefined;
    expect(performance.now() - startedAt).toBeLessThan(8_000);
  });
});

describe('metrics', () => {
  it('are Prometheus text with the buckets of the conventions', async () => {
    start();
    meterOf('orchestrator')
      .createHistogram('gen_ai.client.operation.duration', { unit: 's' })
      .record(0.3, { 'gen_ai.operation.name': 'chat' });
    meterOf('orchestrator').createCounter('lineclear.runs.finished').add(2, { state: 'answered' });
    const text = await metricsText();
    expect(text).toMatch(/gen_ai_client_operation_duration_bucket\{[^}]*le="0.32"[^}]*\} 1/);
    expect(text).toMatch(
      /lineclear_runs_finished_total\{state="answered"[^}]*otel_scope_name="lineclear.orchestrator"[^}]*\} 2/,
    );
    expect(text).toMatch(/^process_memory_usage\{/m);
  });

  it('are empty before the start', async () => {
    expect(await metricsText()).toBe('');
  });
});

describe('startTelemetry', () => {
  it('sets up a process once', () => {
    start();
    expect(startTelemetry({ service: 'other' })).toBe(running);
  });
});
