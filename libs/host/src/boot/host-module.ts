import { type DynamicModule, Module, type Type } from '@nestjs/common';
import { DiscoveryModule } from '@nestjs/core';
import { COMMAND_SENDER, type CommandSender } from '@lineclear/messaging';
import type { Logger } from '@lineclear/telemetry';
import type { DataSource } from 'typeorm';
import { HeldMessages } from '../parked/held-messages.js';
import { ParkedController } from '../parked/parked.controller.js';
import { ProbesController, SERVICE_STATUS, type ServiceStatus } from '../probes/probes.controller.js';
import { CLOSING, DATA_SOURCE, LOGGER } from '../service-definition.js';

export interface HostProvisions {
  readonly dataSource: DataSource;
  readonly commands: CommandSender;
  readonly log: Logger;
  readonly closing: AbortSignal;
  readonly held: HeldMessages;
  readonly status: ServiceStatus;
}

@Module({})
class ProvisionsModule {}

@Module({})
class RootModule {}

/**
 * The root of a service's application: its own module and what the host gives to it. The provisions are global, the one exception to the rule, since
 * every module of a service may need them and none should name the host's module.
 */
export function rootModule(service: DynamicModule | Type, given: HostProvisions): DynamicModule {
  const tokens = [DATA_SOURCE, COMMAND_SENDER, LOGGER, CLOSING];
  const provisions: DynamicModule = {
    module: ProvisionsModule,
    global: true,
    providers: [
      { provide: DATA_SOURCE, useValue: given.dataSource },
      { provide: COMMAND_SENDER, useValue: given.commands },
      { provide: LOGGER, useValue: given.log },
      { provide: CLOSING, useValue: given.closing },
    ],
    exports: tokens,
  };
  return {
    module: RootModule,
    imports: [provisions, DiscoveryModule, service],
    controllers: [ProbesController, ParkedController],
    providers: [
      { provide: HeldMessages, useValue: given.held },
      { provide: SERVICE_STATUS, useValue: given.status },
    ],
  };
}
