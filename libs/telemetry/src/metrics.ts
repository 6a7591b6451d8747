import { PrometheusSerializer } from '@opentelemetry/exporter-prometheus';
import { resourceFromAttributes } from '@opentelemetry/resources';
import { AggregationType, MeterProvider, MetricReader } from '@opentelemetry/sdk-metrics';
import { HISTOGRAM_BUCKETS } from './attributes.js';

/** Metrics of the process, read when somebody asks. Meters are told apart by their name (`lineclear.<service>`), a label in the text. */
export class Metrics {
  readonly provider: MeterProvider;
  readonly #reader = new PullReader();
  readonly #serializer = new PrometheusSerializer();

  constructor(service: string, version: string) {
    this.provider = new MeterProvider({
      resource: resourceFromAttributes({
        'service.name': service,
        'service.namespace': 'lineclear',
        'service.version': version,
      }),
      readers: [this.#reader],
      views: Object.entries(HISTOGRAM_BUCKETS).map(([instrumentName, boundaries]) => ({
        instrumentName,
        aggregation: { type: AggregationType.EXPLICIT_BUCKET_HISTOGRAM, options: { boundaries: [...boundaries] } },
      })),
    });
    this.#observeProcess();
  }

  /** Prometheus text, version 0.0.4. */
  async text(): Promise<string> {
    const { resourceMetrics } = await this.#reader.collect();
    return this.#serializer.serialize(resourceMetrics);
  }

  #observeProcess(): void {
    const meter = this.provider.getMeter('lineclear.process');
    let previous = performance.eventLoopUtilization();
    meter
      .createObservableGauge('process.memory.usage', { unit: 'By', description: 'resident memory' })
      .addCallback((result) => {
        result.observe(process.memoryUsage.rss());
      });
    meter
      .createObservableCounter('process.cpu.time', { unit: 's', description: 'user and system time' })
      .addCallback((result) => {
        const { user, system } = process.cpuUsage();
        result.observe((user + system) / 1e6);
      });
    meter
      .createObservableGauge('nodejs.eventloop.utilization', {
        unit: '1',
        description: 'busy share since the last reading',
      })
      .addCallback((result) => {
        const current = performance.eventLoopUtilization();
        result.observe(performance.eventLoopUtilization(current, previous).utilization);
        previous = current;
      });
  }
}

class PullReader extends MetricReader {
  protected override async onForceFlush(): Promise<void> {}

  protected override async onShutdown(): Promise<void> {}
}
