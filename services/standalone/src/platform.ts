import { resolve } from 'node:path';
import type { ServiceName } from '@lineclear/contracts';
import {
  bootService,
  type Environment,
  type HostOptions,
  portOf,
  PRODUCT_VERSION,
  type RunningService,
  type ServiceDefinition,
} from '@lineclear/host';
import type { DevelopmentIssuer } from '@lineclear/identity';
import { EmbeddedBus, LaneGroup, SharedCommits } from '@lineclear/messaging';
import { createLogger, type Logger, startTelemetry } from '@lineclear/telemetry';
import { openDatabase, type PlatformDatabase } from './database.js';
import { Front } from './front/front.js';
import { removeInstanceFile, writeInstanceFile } from './instance-file.js';
import { noDevelopmentIssuer, openTokens, type PlatformTokens } from './tokens.js';
import { Undo } from './undo.js';

export interface PlatformOptions {
  readonly environment: Environment;
  /** agents/, policies/, models/, tools.yaml, producers.yaml */
  readonly projectDir: string;
  /** data folder: PostgreSQL, keys, instance.json; made when missing */
  readonly homeDir: string;
  /** wins over LINECLEAR_PORT; 0: a free one */
  readonly port?: number;
  /** name of the batch that is worked off, for instance.json */
  readonly batch?: string;
}

export interface Platform {
  readonly url: string;
  /** throws ConfigError when the environment names a real issuer */
  readonly issuer: DevelopmentIssuer;
  readonly services: readonly RunningService[];
  /** resolves with the reason when the platform cannot go on: PostgreSQL gone, the database taken over; stop it then */
  readonly failed: Promise<unknown>;
  /** Clean within 10 s. May be called again. */
  stop(): Promise<void>;
}

/** A service with its configuration's type closed in. */
export interface Bootable {
  readonly name: ServiceName;
  boot(options: HostOptions): Promise<RunningService>;
}

export function bootable<C>(definition: ServiceDefinition<C>): Bootable {
  return { name: definition.name, boot: (options) => bootService(definition, options) };
}

/**
 * Starts services as one process: one Nest application each, one front port, one embedded bus, one PostgreSQL.
 * @throws ConfigError that names what an operator must correct; nothing is left running then
 */
export async function startPlatformOf(definitions: readonly Bootable[], options: PlatformOptions): Promise<Platform> {
  const [homeDir, projectDir] = [resolve(options.homeDir), resolve(options.projectDir)];
  const environment: Environment = { ...options.environment, LINECLEAR_PROJECT: projectDir, LINECLEAR_HOME: homeDir };
  const level = environment['LOG_LEVEL'] ?? 'warn';
  const log = createLogger({ service: 'platform', level });
  const undo = new Undo((error) => log.error({ err: error }, 'a part of the platform did not stop cleanly'));
  try {
    const telemetry = startTelemetry({
      service: 'lineclear',
      version: PRODUCT_VERSION,
      otlpEndpoint: environment['OTEL_EXPORTER_OTLP_ENDPOINT'],
      log,
    });
    undo.add(() => telemetry.shutdown());
    const tokens = await openTokens(environment, homeDir, (line) => log.warn(line));
    const front = await openFront(options, tokens);
    undo.add(() => front.close());
    const database = await openDatabase(environment, homeDir, log);
    undo.add(() => database.stop());
    const bus = await EmbeddedBus.start({ database: database.admin, log });
    undo.add(() => bus.stop());
    const services = await bootAll(definitions, { environment, level, database, bus, tokens }, undo);
    front.serve(services);
    const pid = process.pid;
    await writeInstanceFile(homeDir, {
      url: front.url,
      services: Object.fromEntries(services.map(({ name }) => [name, [{ pid, url: front.url }]])),
      batch: options.batch ?? null,
      kafka: null,
    });
    undo.add(() => removeInstanceFile(homeDir));
    undo.add(async () => front.drain());
    return {
      url: front.url,
      services,
      failed: Promise.race([database.failed, ...services.map(({ failed }) => failed)]),
      get issuer() {
        if (tokens.development === undefined) throw noDevelopmentIssuer();
        return tokens.development;
      },
      stop: () => undo.run(),
    };
  } catch (error) {
    await undo.run();
    throw error;
  }
}

function openFront({ environment, port }: PlatformOptions, { development }: PlatformTokens): Promise<Front> {
  const settings = port === undefined ? portOf(environment) : { ...portOf({}), port, isAsked: true };
  return Front.open({ ...settings, extra: development === undefined ? {} : { '/dev/jwks.json': development.jwks() } });
}

interface BootContext {
  readonly environment: Environment;
  readonly level: string;
  readonly database: PlatformDatabase;
  readonly bus: EmbeddedBus;
  readonly tokens: PlatformTokens;
}

/** All at once. When one fails the others are stopped, and the first failure is told. */
async function bootAll(
  definitions: readonly Bootable[],
  { environment, level, database, bus, tokens }: BootContext,
  undo: Undo,
): Promise<RunningService[]> {
  const group = new LaneGroup(new SharedCommits(database.admin));
  const booting = definitions.map(async (definition) => {
    const log: Logger = createLogger({ service: definition.name, level });
    return definition.boot({
      environment,
      database: await database.provision(definition.name),
      installation: database.installation,
      bus,
      group,
      verifier: tokens.verifier,
      log,
    });
  });
  const results = await Promise.allSettled(booting);
  const services = results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
  undo.add(async () => {
    await Promise.all(services.map((service) => service.stop()));
  });
  for (const result of results) if (result.status === 'rejected') throw result.reason;
  return services;
}
