import type { DynamicModule, Provider, Type } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { ServiceName } from '@lineclear/contracts';
import { createDataSource, type Migration } from '@lineclear/persistence';
import { Lane, type LaneOptions } from '../lane/lane.js';
import { COMMAND_SENDER, type CommandSender } from '../mailbox/command-sender.js';
import { LaneTransportStrategy } from '../nest/transport-strategy.js';
import type { TestWorld } from './test-world.js';

/** What a test needs of the host's ServiceDefinition. */
export interface TestedService<C> {
  readonly name: ServiceName;
  readonly migrations: readonly Migration[];
  config(environment: Readonly<Record<string, string | undefined>>): C;
  module(config: C): DynamicModule | Type;
}

export interface TestServiceOptions extends Partial<Pick<LaneOptions, 'log' | 'batch' | 'cacheEntries' | 'random'>> {
  readonly environment?: Readonly<Record<string, string | undefined>>;
  /** The host's tokens, such as `({ dataSource }) => [{ provide: DATA_SOURCE, useValue: dataSource }, …]`; COMMAND_SENDER is there already. */
  readonly providers?: (given: { readonly dataSource: Awaited<ReturnType<typeof createDataSource>> }) => Provider[];
}

export interface TestService {
  readonly lane: Lane;
  readonly commands: CommandSender;
  get<T>(token: string | symbol | Type<T>): T;
  stop(): Promise<void>;
}

class Root {}

/** Boots a service's module on the world's database and bus as the host does, without its HTTP port. Stop it before the world. */
export async function startTestService<C>(
  world: TestWorld,
  service: TestedService<C>,
  options: TestServiceOptions = {},
): Promise<TestService> {
  const { environment = {}, providers, ...laneOptions } = options;
  const database = await world.databaseOf(service.name, service.migrations);
  const dataSource = await createDataSource(database, service.migrations);
  const lane = new Lane({ ...laneOptions, service: service.name, database, bus: world.bus });
  const given: Provider[] = [
    { provide: COMMAND_SENDER, useValue: lane.commands },
    ...(providers?.({ dataSource }) ?? []),
  ];
  const root: DynamicModule = {
    module: Root,
    global: true,
    providers: given,
    exports: given,
    imports: [service.module(service.config(environment))],
  };
  const app = await NestFactory.createMicroservice(root, {
    strategy: new LaneTransportStrategy(lane),
    logger: false,
    abortOnError: false,
  });
  await app.listen();
  const stop = async () => {
    await app.close();
    await dataSource.destroy();
  };
  return { lane, commands: lane.commands, get: (token) => app.get(token), stop };
}
