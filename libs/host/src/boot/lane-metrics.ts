import type { ServiceName } from '@lineclear/contracts';
import type { Lane, LaneCounters } from '@lineclear/messaging';
import { meterOf } from '@lineclear/telemetry';

/** Shows every counter of a lane as a metric `lineclear.lane.<name>`; those that say `now` are gauges. */
export function observeLane(service: ServiceName, lane: Lane): void {
  const meter = meterOf(service);
  const names = Object.keys(lane.counters) as (keyof LaneCounters)[];
  for (const name of names) {
    const metric = `lineclear.lane.${name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)}`;
    const instrument = name.endsWith('Now')
      ? meter.createObservableGauge(metric)
      : meter.createObservableCounter(metric);
    instrument.addCallback((result) => result.observe(Number(lane.measure()[name]), { service }));
  }
}
