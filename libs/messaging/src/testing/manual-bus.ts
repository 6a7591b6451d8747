import type { Bus, BusMembership, BusPosition, BusRecord, BusSink, JoinOptions } from '../bus/bus.js';

/**
 * A bus that gives and takes shards when the test says so, so that two lanes of one service can believe at once that they own a shard. It delivers what
 * the test hands in and keeps what lanes tell it.
 */
export class ManualBus implements Bus {
  readonly isExclusive = false;
  readonly told = { acknowledged: [] as BusPosition[], appended: [] as BusRecord[], retakes: [] as number[][] };
  /** whether a fenced lane gets its shards again */
  givesBack = false;
  #sink: BusSink | undefined;

  constructor(readonly positions: Bus['positions'] = 'lane') {}

  get sink(): BusSink {
    if (this.#sink === undefined) throw new Error('no lane has joined');
    return this.#sink;
  }

  async join({ sink }: JoinOptions): Promise<BusMembership> {
    this.#sink = sink;
    return {
      acknowledge: (positions) => void this.told.acknowledged.push(...positions),
      appended: (records) => void this.told.appended.push(...records),
      ready: () => true,
      retake: async (shards) => {
        this.told.retakes.push([...shards]);
        await sink.revoked(shards);
        if (this.givesBack) await sink.assigned(shards);
      },
      drained: () => undefined,
      pause: async () => undefined,
      stop: async () => undefined,
    };
  }

  async stop(): Promise<void> {
    this.#sink = undefined;
  }
}
