import { writeSync } from 'node:fs';
import { startKafka } from '../kafka/broker.js';

/** Owns a Kafka until it is killed; prints its process id. */
const broker = await startKafka();
writeSync(1, `${broker.pid}\n`);
setInterval(() => undefined, 60_000);
