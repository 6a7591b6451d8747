import { DiscoveryService } from '@nestjs/core';
import { Lane, LaneTransportStrategy, MESSAGING_MIGRATIONS } from '@lineclear/messaging';
import { claimDatabase, createDataSource, migrate } from '@lineclear/persistence';
import { createLogger } from '@lineclear/telemetry';
import type { DataSource } from 'typeorm';
import { describedRoutes } from '../docs/described-routes.js';
import { openApiDocument } from '../docs/openapi.js';
import { createHttpApp, type HttpApp } from '../http/http-app.js';
import { HeldMessages } from '../parked/held-messages.js';
import { listen } from '../process/listen.js';
import type { HostOptions, RunningService, ServiceDefinition } from '../service-definition.js';
import { PRODUCT_VERSION } from '../version.js';
import { rootModule } from './host-module.js';
import { observeLane } from './lane-metrics.js';
import { nestLogger } from './nest-logger.js';
import { BootedService } from './booted-service.js';

const BODY_LIMIT_BYTES = 1 << 20;
const DRAIN_MS = 7_000;
const HOST = '127.0.0.1';

/**
 * Boots one service: checks its configuration, migrates its schema, builds its lane and its Nest application (HTTP and lane in one), and starts it.
 * @throws ConfigError for what an operator must correct (configuration, database of another installation, port taken); TransientError when the
 * database is away. Nothing is left running then.
 */
export async function bootService<C>(definition: ServiceDefinition<C>, options: HostOptions): Promise<RunningService> {
  const { name } = definition;
  const log = options.log ?? createLogger({ service: name, level: options.environment['LOG_LEVEL'] });
  const config = definition.config(options.environment);
  if (options.installation !== undefined) await claimDatabase(options.database, options.installation);
  const dataSource = await createDataSource(options.database, [...MESSAGING_MIGRATIONS, ...definition.migrations], {
    name: `lineclear ${name}`,
  });
  const failure = Promise.withResolvers<unknown>();
  const { gatherMs = 0 } = definition;
  const lane = new Lane({
    service: name,
    database: options.database,
    bus: options.bus,
    log,
    batch: { gatherMs },
    ...(options.group !== undefined && gatherMs === 0 && { group: options.group }),
    failed: failure.resolve,
  });
  const closing = new AbortController();
  let http: HttpApp | undefined;
  try {
    const applied = await migrate(dataSource);
    if (applied.length > 0) log.info({ migrations: applied }, 'migrated');
    const held = new HeldMessages(name, dataSource);
    const openApi = () => {
      const discovery = http?.app.get(DiscoveryService, { strict: false });
      return openApiDocument(name, PRODUCT_VERSION, discovery === undefined ? [] : describedRoutes(discovery));
    };
    const status = {
      service: name,
      version: PRODUCT_VERSION,
      reasons: () => reasons(lane, dataSource, closing.signal),
      openApi,
    };
    const provisions = { dataSource, commands: lane.commands, log, closing: closing.signal, held, status };
    http = await createHttpApp(rootModule(definition.module(config), provisions), {
      service: name,
      verifier: options.verifier,
      bodyLimitBytes: options.bodyLimitBytes ?? BODY_LIMIT_BYTES,
      logger: nestLogger(log),
      failed: (error, request) => log.error({ err: error, ...request }, 'a request failed'),
    });
    const strategy = new LaneTransportStrategy(lane, { drainMs: options.drainMs ?? DRAIN_MS });
    http.app.connectMicroservice({ strategy }, { inheritAppConfig: false });
    await http.app.init();
    await http.app.startAllMicroservices();
    await http.fastify.ready();
    observeLane(name, lane);
    const url = await listenOn(http, options);
    return new BootedService({ name, url, http, dataSource, closing, status, failed: failure.promise });
  } catch (error) {
    closing.abort();
    await http?.app.close().catch(() => undefined);
    await dataSource.destroy();
    throw error;
  }
}

function listenOn({ fastify }: HttpApp, { host = HOST, port }: HostOptions): Promise<string | undefined> {
  return port === undefined
    ? Promise.resolve(undefined)
    : listen(fastify.server, { host, port, where: 'LINECLEAR_PORT' });
}

/** INVARIANT: empty only while the service takes work: its shards are owned and read, its bus lives, its database answers. */
async function reasons(lane: Lane, dataSource: DataSource, closing: AbortSignal): Promise<string[]> {
  if (closing.aborted) return ['the service is stopping'];
  const database = await answers(dataSource);
  return [...lane.reasons(), ...(database ? [] : ['the database does not answer'])];
}

const PING_LIMIT_MS = 2_000;

async function answers(dataSource: DataSource): Promise<boolean> {
  const late = Promise.withResolvers<boolean>();
  const timer = setTimeout(() => late.resolve(false), PING_LIMIT_MS);
  const answered = dataSource.query('SELECT 1').then(
    () => true,
    () => false,
  );
  return Promise.race([answered, late.promise]).finally(() => clearTimeout(timer));
}
