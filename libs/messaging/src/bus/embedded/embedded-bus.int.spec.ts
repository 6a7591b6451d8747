import type { ServiceName } from '@lineclear/contracts';
import { testDatabase } from '@lineclear/test-kit';
import { Lane } from '../../lane/lane.js';
import { LaneGroup } from '../../lane/lane-group.js';
import type { Handler } from '../../lane/registry.js';
import { SharedCommits } from '../../lane/shared-commits.js';
import { TestWorld } from '../../testing/test-world.js';
import { type BusWorld, describeBus } from '../bus.testsuite.js';
import type { Bus } from '../bus.js';
import { emitter, TallyTable1764400000001 } from '../tally.testsuite.js';
import { FaultInjector } from './injector.js';

/** Embedded by itself is kinder than Kafka: the suite runs under the injector. A further seed comes from LINECLEAR_SEED. */
const SEEDS = [
  1,
  2,
  3,
  ...(process.env['LINECLEAR_SEED'] === undefined ? [] : [Number(process.env['LINECLEAR_SEED'])]),
];

for (const seed of SEEDS)
  describeBus({
    name: `the embedded bus, injector with seed ${seed}`,
    open: ({ hasProducer }) => open({ hasProducer, seed }),
  });

describeBus({
  name: 'the embedded bus, lanes that commit together',
  isOneLoop: true,
  open: ({ hasProducer }) => open({ hasProducer, isShared: true }),
});
describeBus({
  name: 'the embedded bus, lanes that commit together, injector with seed 4',
  isOneLoop: true,
  open: ({ hasProducer }) => open({ hasProducer, isShared: true, seed: 4 }),
});

interface OpenOptions {
  readonly hasProducer: boolean;
  /** default: no injector */
  readonly seed?: number;
  readonly isShared?: boolean;
}

async function open({ hasProducer, seed, isShared = false }: OpenOptions): Promise<BusWorld> {
  const database = await (await testDatabase()).createDatabase();
  const world = await TestWorld.open({
    database,
    services: hasProducer ? ['policy-engine', 'tool-registry'] : ['tool-registry'],
    wrap: (bus) => (seed === undefined ? bus : new FaultInjector(bus, { seed })),
  });
  await world.databaseOf('policy-engine');
  await world.databaseOf('tool-registry', [TallyTable1764400000001]);
  const lanes = new Set<Lane>();
  const group = isShared ? { group: new LaneGroup(new SharedCommits(database)) } : {};
  const start = async (service: ServiceName, handlers: readonly Handler[], wrap = (bus: Bus) => bus) => {
    const lane = new Lane({ service, database: await world.databaseOf(service), bus: wrap(world.bus), ...group });
    lanes.add(lane);
    await lane.start(handlers);
    return lane;
  };
  return {
    queuedBytesLimit: 8 << 20,
    startProducer: () => start('policy-engine', emitter.handlers),
    startConsumer: (tallies, wrap) => start('tool-registry', tallies.handlers, wrap),
    stop: async (lane) => {
      lanes.delete(lane);
      await lane.stop();
    },
    crash: async () => {
      await Promise.all([...lanes].map((lane) => lane.kill()));
      lanes.clear();
      await world.crash();
    },
    publishRaw: (record) => world.publishRaw(record),
    query: (text, values) => world.query(text, values),
    close: async () => {
      await Promise.all([...lanes].map((lane) => lane.stop({ drainMs: 0 })));
      await world.close();
    },
  };
}
