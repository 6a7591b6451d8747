import { setTimeout as delay } from 'node:timers/promises';
import { Inject, Injectable, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { LOGGER } from '@lineclear/host';
import { COMMAND_SENDER, type CommandSender } from '@lineclear/messaging';
import { POLICY_CONFIG, type PolicyEngineConfig } from '../config.js';
import { POLICY_SET_NAME } from '../domain/policy-set-name.js';
import { ACTIVATE_POLICY_SET, type ActivatePolicySet } from './policy-set-commands.js';

/** Tenant of what belongs to the installation and to no tenant. */
export const PLATFORM_TENANT = 'platform';

const FIRST_PAUSE_MS = 200;
const LONGEST_PAUSE_MS = 5_000;

/** What is needed of the logger that the host gives. */
interface Log {
  warn(message: string): void;
  error(message: string): void;
}

/** Puts the files that this process was started with in force. Repeats until the owner of the set has answered. */
@Injectable()
export class ActivateAtStart implements OnApplicationBootstrap, OnModuleDestroy {
  private readonly stopping = new AbortController();
  private running: Promise<void> | undefined;

  constructor(
    @Inject(POLICY_CONFIG) private readonly config: PolicyEngineConfig,
    @Inject(COMMAND_SENDER) private readonly commands: CommandSender,
    @Inject(LOGGER) private readonly log: Log,
  ) {}

  onApplicationBootstrap(): void {
    for (const warning of this.config.warnings) this.log.warn(`policy set: ${warning}`);
    this.running = this.activate();
  }

  async onModuleDestroy(): Promise<void> {
    this.stopping.abort();
    await this.running;
  }

  private async activate(): Promise<void> {
    const { signal } = this.stopping;
    const payload: ActivatePolicySet = { hash: this.config.hash, files: this.config.policies };
    for (let pauseMs = FIRST_PAUSE_MS; !signal.aborted; pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)) {
      try {
        await this.commands.send({
          name: ACTIVATE_POLICY_SET,
          key: POLICY_SET_NAME,
          tenant: PLATFORM_TENANT,
          payload,
          by: null,
        });
        return;
      } catch (error) {
        if (!signal.aborted) this.log.error(`the policy set is not in force yet: ${String(error)}`);
      }
      await delay(pauseMs, undefined, { signal }).catch(() => undefined);
    }
  }
}
