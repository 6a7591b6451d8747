import { Kafka, logLevel } from 'kafkajs';
import { describe, expect, it } from 'vitest';
import { eventually } from '../eventually.js';
import { startTypeScript } from '../typescript-process.js';
import { kafkaAvailability } from './availability.js';
import { startKafka } from './broker.js';
import { createTopics, readTopics } from './topics.js';

const kafka = await kafkaAvailability();
const TIMEOUT_MS = 240_000;
const isLocal = kafka.kind === 'local';
const note = kafka.kind === 'missing' ? ` (skipped: ${kafka.reason})` : '';

async function topicsOf(brokers: readonly string[]): Promise<string[]> {
  const admin = new Kafka({ brokers: [...brokers], logLevel: logLevel.NOTHING }).admin();
  await admin.connect();
  try {
    return (await admin.listTopics()).filter((name) => name.startsWith('lineclear.'));
  } finally {
    await admin.disconnect();
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

describe.skipIf(!isLocal)(`a Kafka of our own${note}`, () => {
  it('keeps its topics over a kill, and loses them in a wipe', { timeout: TIMEOUT_MS }, async () => {
    const broker = await startKafka();
    try {
      const plan = await readTopics();
      await createTopics(broker.brokers, plan);
      await createTopics(broker.brokers, plan);
      await broker.kill();
      await broker.restart();
      expect((await topicsOf(broker.brokers)).toSorted()).toEqual(plan.map(({ name }) => name).toSorted());
      await broker.restart({ wipe: true });
      expect(await topicsOf(broker.brokers)).toEqual([]);
    } finally {
      await broker.stop();
    }
  });

  it('ends when its owner is killed', { timeout: TIMEOUT_MS }, async () => {
    const owner = startTypeScript(new URL('../victims/kafka-owner.ts', import.meta.url));
    const pid = Number(await owner.nextLine());
    expect(isAlive(pid)).toBe(true);
    await owner.kill();
    await eventually(() => !isAlive(pid));
  });
});
