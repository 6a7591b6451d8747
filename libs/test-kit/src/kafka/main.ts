import { parseArgs } from 'node:util';
import { kafkaAvailability } from './availability.js';
import { startKafka } from './broker.js';
import { createTopics, readTopics } from './topics.js';

/** `npm run kafka`: a Kafka for development with the topics of an installation, until Ctrl-C. `--port` is 9092 unless given. */
async function main(): Promise<void> {
  const { values } = parseArgs({ options: { port: { type: 'string', default: '9092' } } });
  const found = await kafkaAvailability({ PATH: process.env.PATH });
  if (found.kind === 'missing') {
    process.stderr.write(`${found.reason}\n`);
    process.exitCode = 1;
    return;
  }
  const broker = await startKafka({ port: Number(values.port) });
  const stop = () => void broker.stop().then(() => process.exit(0));
  process.once('SIGINT', stop).once('SIGTERM', stop);
  await createTopics(broker.brokers, await readTopics());
  process.stdout.write(`KAFKA_BROKERS=${broker.brokers.join(',')}\n`);
  setInterval(() => undefined, 60_000);
}

await main();
