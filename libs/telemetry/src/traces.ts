import type { Tracer, TracerProvider as TracerProviderApi } from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { resourceFromAttributes } from '@opentelemetry/resources';
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  BatchSpanProcessor,
  ParentBasedSampler,
  type SpanExporter,
  type SpanProcessor,
  TracerProvider,
} from '@opentelemetry/sdk-trace';

const PREFIX = 'lineclear.';

/**
 * Tracers of all services of one process. `trace.getTracer('lineclear.orchestrator')` gives spans whose resource is that service, so six
 * services in one process look like six; any other name gets the process's own service name. They share one queue to the exporter.
 */
export class ServiceTracers implements TracerProviderApi {
  readonly #providers = new Map<string, TracerProvider>();
  readonly #processors: readonly SpanProcessor[];

  /** @param exporter undefined: trace ids are made and passed on, but spans are recorded only for callers that ask for it */
  constructor(
    private readonly processService: string,
    private readonly version: string,
    private readonly exporter: SpanExporter | undefined,
  ) {
    this.#processors =
      exporter === undefined
        ? []
        : [
            new BatchSpanProcessor({
              exporter,
              maxQueueSize: 8_192,
              scheduledDelayMillis: 1_000,
              exportTimeoutMillis: 10_000,
            }),
          ];
  }

  getTracer(name: string, version?: string, options?: { schemaUrl?: string }): Tracer {
    const service = name.startsWith(PREFIX) ? name.slice(PREFIX.length) : this.processService;
    return this.#providerOf(service).getTracer(name, version, options);
  }

  async flush(): Promise<void> {
    await Promise.all(this.#processors.map((processor) => processor.forceFlush()));
  }

  async shutdown(): Promise<void> {
    await Promise.all(this.#processors.map((processor) => processor.shutdown()));
  }

  #providerOf(service: string): TracerProvider {
    const known = this.#providers.get(service);
    if (known !== undefined) return known;
    const made = new TracerProvider({
      resource: resourceFromAttributes({
        'service.name': service,
        'service.namespace': 'lineclear',
        'service.version': this.version,
      }),
      sampler: new ParentBasedSampler({
        root: this.exporter === undefined ? new AlwaysOffSampler() : new AlwaysOnSampler(),
      }),
      spanProcessors: [...this.#processors],
      spanLimits: {
        attributeValueLengthLimit: 8_192,
        attributeCountLimit: 64,
        eventCountLimit: 64,
        linkCountLimit: 128,
      },
    });
    this.#providers.set(service, made);
    return made;
  }
}

/** Sends spans to `<endpoint>/v1/traces` as OTLP over HTTP. */
export function otlpExporter(endpoint: string): SpanExporter {
  return new OTLPTraceExporter({ url: `${endpoint.replace(/\/+$/, '')}/v1/traces`, timeoutMillis: 10_000 });
}
