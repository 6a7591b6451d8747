import { describe } from 'vitest';
import { kafkaAvailability } from '@lineclear/test-kit';
import { describeBus } from '../bus.testsuite.js';
import { FaultInjector } from '../embedded/injector.js';
import { KafkaWorld } from './kafka-world.testsuite.js';

const availability = await kafkaAvailability();
if (availability.kind === 'missing') process.stderr.write(`the Kafka suite is skipped: ${availability.reason}\n`);

describe.skipIf(availability.kind === 'missing')('on Apache Kafka', () => {
  describeBus({ name: 'the Kafka bus', open: () => KafkaWorld.open() });
  describeBus({
    name: 'the Kafka bus, injector with seed 1',
    open: () => KafkaWorld.open({ wrap: (bus) => new FaultInjector(bus, { seed: 1 }) }),
  });
});
