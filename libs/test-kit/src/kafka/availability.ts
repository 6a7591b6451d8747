import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { hasJars } from './jars.js';

const execute = promisify(execFile);

export type KafkaAvailability =
  | { readonly kind: 'external'; readonly brokers: readonly string[] }
  | { readonly kind: 'local' }
  | { readonly kind: 'missing'; readonly reason: string };

/**
 * Whether tests can have a real Kafka: one named by KAFKA_BROKERS, or one of our own from Java and Maven. Suites skip themselves and say
 * the reason when there is none.
 * @throws Error when there is none and CI is set: a gate must not pass because its suite was skipped
 */
export async function kafkaAvailability(env: NodeJS.ProcessEnv = process.env): Promise<KafkaAvailability> {
  const brokers = (env.KAFKA_BROKERS ?? '')
    .split(',')
    .flatMap((broker) => (broker.trim() === '' ? [] : [broker.trim()]));
  if (brokers.length > 0) return { kind: 'external', brokers };
  const missing = [
    (await runs('java', '-version', env)) ? [] : ['java'],
    (await hasJars()) || (await runs('mvn', '-version', env)) ? [] : ['mvn'],
  ].flat();
  if (missing.length === 0) return { kind: 'local' };
  const reason = `no Kafka: ${missing.join(' and ')} not found and KAFKA_BROKERS not set (Debian: apt-get install openjdk-17-jre-headless maven)`;
  if (env.CI !== undefined && env.CI !== '' && env.CI !== 'false') throw new Error(reason);
  return { kind: 'missing', reason };
}

async function runs(program: string, flag: string, env: NodeJS.ProcessEnv): Promise<boolean> {
  try {
    await execute(program, [flag], { env });
    return true;
  } catch {
    return false;
  }
}
