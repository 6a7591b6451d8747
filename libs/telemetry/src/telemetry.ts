import { context, diag, DiagLogLevel, type Meter, metrics, propagation, trace, type Tracer } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { W3CTraceContextPropagator } from '@opentelemetry/core';
import type { SpanExporter } from '@opentelemetry/sdk-trace';
import { SCHEMA_URL } from './attributes.js';
import type { Logger } from './logger.js';
import { Metrics } from './metrics.js';
import { otlpExporter, ServiceTracers } from './traces.js';

export interface TelemetryOptions {
  /** Name of the process; services inside it have tracers and meters of their own. */
  readonly service: string;
  readonly version?: string;
  /** Base address of an OTLP/HTTP receiver; default OTEL_EXPORTER_OTLP_ENDPOINT. Without one no span leaves the process. */
  readonly otlpEndpoint?: string | undefined;
  /** Instead of OTLP, for tests. */
  readonly exporter?: SpanExporter;
  /** Gets warnings of OpenTelemetry, such as a receiver that is away. */
  readonly log?: Pick<Logger, 'warn'>;
}

export interface Telemetry {
  /** Sends what is waiting. */
  flush(): Promise<void>;
  /** Sends what is waiting, within 5 s, and takes the process's telemetry down. */
  shutdown(): Promise<void>;
}

let current: { readonly metrics: Metrics; readonly telemetry: Telemetry } | undefined;

/**
 * Sets up traces, metrics and context for the whole process; a second call returns the first one's. Nothing in it fails or slows a run when
 * the receiver is away: at most 8,192 spans wait, later ones are dropped.
 */
export function startTelemetry(options: TelemetryOptions): Telemetry {
  current ??= start(options);
  return current.telemetry;
}

/** Spans of one service. Works, without effect, also before `startTelemetry`. */
export function tracerOf(service: string): Tracer {
  return trace.getTracerProvider().getTracer(`lineclear.${service}`, undefined, { schemaUrl: SCHEMA_URL });
}

/** Metrics of one service. Works, without effect, also before `startTelemetry`: make instruments after it. */
export function meterOf(service: string): Meter {
  return metrics.getMeter(`lineclear.${service}`);
}

/** All metrics of the process as Prometheus text (0.0.4); empty before `startTelemetry`. */
export async function metricsText(): Promise<string> {
  return current === undefined ? '' : current.metrics.text();
}

function start(options: TelemetryOptions): NonNullable<typeof current> {
  const version = options.version ?? '0.0.0';
  const endpoint = (options.otlpEndpoint ?? process.env.OTEL_EXPORTER_OTLP_ENDPOINT ?? '').trim();
  const exporter = options.exporter ?? (endpoint === '' ? undefined : otlpExporter(endpoint));
  const { log } = options;
  if (log !== undefined) {
    const warn = (message: string, ...rest: unknown[]) => log.warn({ rest }, `opentelemetry: ${message}`);
    diag.setLogger(
      { error: warn, warn, info: () => undefined, debug: () => undefined, verbose: () => undefined },
      DiagLogLevel.WARN,
    );
  }
  const tracers = new ServiceTracers(options.service, version, exporter);
  const registry = new Metrics(options.service, version);
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  propagation.setGlobalPropagator(new W3CTraceContextPropagator());
  trace.setGlobalTracerProvider(tracers);
  metrics.setGlobalMeterProvider(registry.provider);
  const shutdown = async () => {
    current = undefined;
    const late = new Promise((resolve) => setTimeout(resolve, 5_000).unref());
    await Promise.race([tracers.shutdown().catch(() => undefined), late]);
    await registry.provider.shutdown();
    for (const api of [context, propagation, trace, metrics, diag]) api.disable();
  };
  return { metrics: registry, telemetry: { flush: () => tracers.flush(), shutdown } };
}
