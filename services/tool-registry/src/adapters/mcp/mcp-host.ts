import { setTimeout as delay } from 'node:timers/promises';
import { Inject, Injectable, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { DATA_SOURCE, LOGGER } from '@lineclear/host';
import { COMMAND_SENDER, type CommandSender } from '@lineclear/messaging';
import { DataSource } from 'typeorm';
import { PLATFORM_TENANT, SERVER_OBSERVED, type ServerObserved } from '../../application/catalogue-commands.js';
import { REGISTRY_CONFIG, type ToolRegistryConfig } from '../../config.js';
import { observeServer } from '../../domain/observe-server.js';
import { BUILT_IN, READ_RESULT_OBSERVATION } from '../../domain/read-result.js';
import { ServerSupervisor } from './server-supervisor.js';

const FIRST_PAUSE_MS = 200;
const LONGEST_PAUSE_MS = 5_000;

/** What is needed of the logger that the host gives. */
interface Log {
  info(message: string): void;
  warn(message: string): void;
}

/** Runs the servers of tools.yaml and tells the catalogue what is seen of them. */
@Injectable()
export class McpHost implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly supervisors = new Map<string, ServerSupervisor>();
  private readonly stopping = new AbortController();
  /** the latest sight of each server that the catalogue has not taken in yet */
  private readonly untold = new Map<string, ServerObserved>();
  private readonly telling = new Map<string, Promise<void>>();

  constructor(
    @Inject(REGISTRY_CONFIG) private readonly config: ToolRegistryConfig,
    @Inject(COMMAND_SENDER) private readonly commands: CommandSender,
    @Inject(DATA_SOURCE) private readonly dataSource: DataSource,
    @Inject(LOGGER) private readonly log: Log,
  ) {}

  async onApplicationBootstrap(): Promise<void> {
    this.tell(BUILT_IN, { obstacle: null, observations: [READ_RESULT_OBSERVATION] });
    for (const name of await this.removedServers())
      this.tell(name, { obstacle: `server \`${name}\` is not in tools.yaml any more`, observations: [] });
    for (const server of this.config.servers) {
      const supervisor = new ServerSupervisor(server, {
        cwd: this.config.projectFolder,
        environment: this.config.environment,
        report: (seen, sight) => {
          const obstacle = 'obstacle' in sight ? sight.obstacle : null;
          if (obstacle === null)
            this.log.info(`server \`${seen.name}\` lists ${'tools' in sight ? sight.tools.length : 0} tools`);
          else this.log.warn(obstacle);
          this.tell(seen.name, { obstacle, observations: observeServer(seen, sight) });
        },
      });
      this.supervisors.set(server.name, supervisor);
      supervisor.start();
    }
  }

  /** After the lane has drained its jobs. */
  async onApplicationShutdown(): Promise<void> {
    this.stopping.abort();
    await Promise.all([...this.supervisors.values()].map((supervisor) => supervisor.stop()));
    await Promise.all(this.telling.values());
  }

  supervisor(server: string): ServerSupervisor | undefined {
    return this.supervisors.get(server);
  }

  private async removedServers(): Promise<readonly string[]> {
    const known: { name: string }[] = await this.dataSource.query('SELECT name FROM server');
    const names = new Set([BUILT_IN, ...this.config.servers.map(({ name }) => name)]);
    return known.map(({ name }) => name).filter((name) => !names.has(name));
  }

  private tell(server: string, sight: ServerObserved): void {
    this.untold.set(server, sight);
    const before = this.telling.get(server) ?? Promise.resolve();
    this.telling.set(
      server,
      before.then(() => this.tellAll(server)),
    );
  }

  /** One command at a time, so that the catalogue ends with what was seen last; repeated until it is taken. */
  private async tellAll(server: string): Promise<void> {
    const { signal } = this.stopping;
    for (let pauseMs = FIRST_PAUSE_MS; !signal.aborted; pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)) {
      const payload = this.untold.get(server);
      if (payload === undefined) return;
      try {
        const result = await this.commands.send({
          name: SERVER_OBSERVED,
          key: server,
          tenant: PLATFORM_TENANT,
          payload,
          by: null,
        });
        if (!result.ok) throw new Error(result.failure.message);
        if (this.untold.get(server) === payload) this.untold.delete(server);
        continue;
      } catch (error) {
        if (!signal.aborted) this.log.warn(`the catalogue has not taken in server \`${server}\` yet: ${String(error)}`);
      }
      await delay(pauseMs, undefined, { signal }).catch(() => undefined);
    }
  }
}
