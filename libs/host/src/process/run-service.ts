import { hostname } from 'node:os';
import { ConfigError } from '@lineclear/errors';
import { type DatabaseConfig, parseDatabaseUrl, provisionServiceDatabase } from '@lineclear/persistence';
import { createLogger, type Logger, startTelemetry } from '@lineclear/telemetry';
import { bootService } from '../boot/boot-service.js';
import type { Environment, ServiceDefinition } from '../service-definition.js';
import { PRODUCT_VERSION } from '../version.js';
import { portOf } from './port-settings.js';
import { runProcess, type Stoppable } from './run-process.js';
import { verifierOf } from './token-settings.js';

/**
 * Runs one service as a process of its own, on Kafka: what a service's main.ts does. Everything comes from the environment: DATABASE_URL of the service
 * (or DATABASE_ADMIN_URL, to make schema and role first), KAFKA_BROKERS, LINECLEAR_ISSUER, LINECLEAR_AUDIENCE, LINECLEAR_JWKS_URL, LINECLEAR_PORT.
 * Ends the process: 0 stopped as asked, 1 failed, 2 something to correct.
 */
export async function runService<C>(
  definition: ServiceDefinition<C>,
  environment: Environment = process.env,
): Promise<void> {
  const say = (line: string): void => void process.stderr.write(`lineclear ${definition.name}: ${line}\n`);
  const log = createLogger({ service: definition.name, level: environment['LOG_LEVEL'] });
  await runProcess(
    async () => {
      const { url, running } = await start(definition, environment, log);
      say(`serving at ${url}`);
      return running;
    },
    { say, log: (error, message) => log.error({ err: error }, message) },
  );
}

async function start<C>(definition: ServiceDefinition<C>, environment: Environment, log: Logger) {
  const { name } = definition;
  const verifier = verifierOf(environment);
  if (verifier === undefined)
    throw missing('LINECLEAR_ISSUER', 'the issuer of tokens, with LINECLEAR_AUDIENCE and LINECLEAR_JWKS_URL');
  const brokers = (environment['KAFKA_BROKERS'] ?? '').split(',').flatMap((broker) => broker.trim() || []);
  if (brokers.length === 0)
    throw missing('KAFKA_BROKERS', '`host:port` of some brokers; without Kafka run services/standalone');
  const database = await databaseOf(name.replaceAll('-', '_'), environment);
  const telemetry = startTelemetry({ service: name, version: PRODUCT_VERSION, log });
  const { KafkaBus } = await import('@lineclear/messaging/kafka');
  const memberFolder = environment['LINECLEAR_HOME'];
  const bus = new KafkaBus({
    brokers,
    clientId: `${name}-${hostname()}`,
    databaseOf: () => database,
    ...(memberFolder !== undefined && { memberFolder }),
    log,
  });
  const service = await bootService(definition, { environment, database, bus, verifier, log, ...portOf(environment) });
  const stop = async (): Promise<void> => {
    await service.stop();
    await bus.stop();
    await telemetry.shutdown();
  };
  const running: Stoppable = { failed: service.failed, stop };
  return { url: service.url ?? '', running };
}

async function databaseOf(schema: string, environment: Environment): Promise<DatabaseConfig> {
  const { DATABASE_URL: own = '', DATABASE_ADMIN_URL: admin = '' } = environment;
  if (admin !== '')
    return provisionServiceDatabase(parseDatabaseUrl(admin, { where: 'DATABASE_ADMIN_URL' }), { schema });
  if (own === '') throw missing('DATABASE_URL', '`postgres://user:password@host:port/database` of this service');
  return parseDatabaseUrl(own, { schema });
}

function missing(where: string, expected: string): ConfigError {
  return new ConfigError([{ where, what: 'it is not set', expected, next: 'set it' }]);
}
