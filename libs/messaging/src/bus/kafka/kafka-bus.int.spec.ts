import { setTimeout as delay } from 'node:timers/promises';
import { type KafkaBroker, kafkaAvailability, startKafka } from '@lineclear/test-kit';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { Lane } from '../../lane/lane.js';
import { describeBus } from '../bus.testsuite.js';
import { emitter, Tallies, type TallyEvent } from '../tally.testsuite.js';
import { KafkaWorld } from './kafka-world.testsuite.js';
import { TaskIngress, type TaskRecord } from './task-ingress.js';

const availability = await kafkaAvailability();
if (availability.kind === 'missing') process.stderr.write(`the Kafka suite is skipped: ${availability.reason}\n`);

const KEYS = Array.from({ length: 12 }, (_, index) => `k${index}`);

/** One more event on both topics of each key. */
const round = (n: number): TallyEvent[] =>
  KEYS.flatMap((key) => [
    { topic: 'policies', key, n },
    { topic: 'policy', key, n },
  ]);

async function emitRounds(producer: Lane, from: number, to: number): Promise<void> {
  for (let n = from; n <= to; n++) {
    await emitter.send(producer, round(n));
    await delay(10);
  }
}

describe.skipIf(availability.kind === 'missing')('on Apache Kafka', { timeout: 120_000 }, () => {
  const worlds: KafkaWorld[] = [];

  async function open(brokers?: readonly string[]) {
    const world = await KafkaWorld.open(brokers);
    worlds.push(world);
    return { world, tallies: new Tallies(world) };
  }

  afterEach(() => Promise.all(worlds.splice(0).map((world) => world.close())));

  describeBus({ name: 'the Kafka bus', open: () => KafkaWorld.open() });

  it('keeps one state change per event while replicas of both services come and go', async () => {
    const { world, tallies } = await open();
    const producers = [await world.startProducer()];
    const consumers = [await world.startConsumer(tallies)];
    const first = producers[0] as Lane;
    const emitting = emitRounds(first, 1, 60);
    consumers.push(await world.startConsumer(tallies));
    producers.push(await world.startProducer());
    await emitting;
    await Promise.all([world.stop(first), world.stop(consumers[0] as Lane)]);
    await emitRounds(producers[1] as Lane, 61, 70);
    expect(await tallies.faults(KEYS, 70)).toEqual([]);
  });

  it('carries a task from a client to the state of another service', async () => {
    const { world, tallies } = await open();
    const producer = await world.startProducer();
    await world.startConsumer(tallies);
    await world.createTopics(['tasks']);
    const toCommand = ({ offset, value }: TaskRecord) => ({
      id: `task-${offset}`,
      name: 'emit',
      key: `emitter-${offset}`,
      tenant: 'acme',
      payload: JSON.parse(String(value)) as unknown,
      by: null,
    });
    const { brokers, prefix } = world;
    const ingress = new TaskIngress({
      brokers,
      prefix,
      clientId: 'test',
      commands: producer.commands,
      toCommand: (record) => toCommand({ ...record, value: Buffer.from(record.value ?? '') }),
      failed: () => undefined,
    });
    ingress.start();
    const value = JSON.stringify(round(1));
    await world.publishRaw({ topic: 'tasks', partition: 5, key: null, headers: {}, value });
    expect(await tallies.faults(KEYS, 1)).toEqual([]);
    await ingress.stop();
  });

  describe('when the broker is lost', () => {
    let broker: KafkaBroker;

    beforeAll(async () => {
      broker = await startKafka();
    });
    afterAll(() => broker.stop());

    it('commits on, and delivers everything once the broker is back', async () => {
      const { world, tallies } = await open(broker.brokers);
      const producer = await world.startProducer();
      await world.startConsumer(tallies);
      await emitRounds(producer, 1, 10);
      const emitting = emitRounds(producer, 11, 40);
      await broker.kill();
      await emitting;
      await broker.restart();
      expect(await tallies.faults(KEYS, 40)).toEqual([]);
    });

    it('sends the log again when its data is wiped, and changes no state twice', async () => {
      const { world, tallies } = await open(broker.brokers);
      const producer = await world.startProducer();
      const consumer = await world.startConsumer(tallies);
      await emitRounds(producer, 1, 10);
      expect(await tallies.faults(KEYS, 10)).toEqual([]);
      await world.stop(consumer);
      const emitting = emitRounds(producer, 11, 60);
      await broker.restart({ wipe: true });
      await world.createTopics();
      await emitting;
      await world.startConsumer(tallies);
      expect(await tallies.faults(KEYS, 60)).toEqual([]);
    });
  });
});
