import { rmSync } from 'node:fs';
import { DATA_SOURCE, LOGGER } from '@lineclear/host';
import { startTestService, type TestService, TestWorld } from '@lineclear/messaging/testing';
import { testDatabase } from '@lineclear/test-kit';
import { toolRegistry } from '../tool-registry.js';
import { environmentOf, type Keys, oddProject, RegistryPen } from './registry-pen.testsuite.js';

const SILENT = { info: () => undefined, warn: () => undefined, error: () => undefined };

/** The registry on a real database and bus, with one odd MCP server, and a policy engine's key in the hand of the test. */
export class RegistryWorld extends RegistryPen {
  private constructor(
    world: TestWorld,
    project: { readonly folder: string; readonly keys: Keys },
    private service: TestService,
  ) {
    super(world, project.folder, project.keys);
  }

  /** `traits`: of the tool `act`, as in tools.yaml. */
  static async open(...given: Parameters<typeof oddProject>): Promise<RegistryWorld> {
    const project = await oddProject(...given);
    const world = await TestWorld.open({ database: await newDatabase(), services: ['tool-registry'] });
    return new RegistryWorld(world, project, await start(world, project.folder));
  }

  async close(): Promise<void> {
    await this.service.stop();
    await this.world.close();
    rmSync(this.folder, { recursive: true, force: true });
  }

  get commands() {
    return this.service.commands;
  }

  /** Ends the lane as `kill -9` would and starts another process's worth of registry on the same database. */
  async crash(): Promise<void> {
    await this.service.lane.kill();
    const before = this.service;
    await this.world.crash();
    this.service = await start(this.world, this.folder);
    await before.stop().catch(() => undefined);
  }

  /** An operator's command about a tool of the odd server. */
  async order(
    name: string,
    payload: { readonly name: string; readonly reason: string; readonly definitionHash?: string },
  ) {
    const by = { tenant: 'acme', subject: 'olga', roles: ['operator'], scopes: [] };
    return await this.commands.send({ name, key: 'odd', tenant: 'platform', payload, by });
  }

  /** Restarts with the call's attempts in the past: the lane reads its state anew. */
  async restart(callId: string): Promise<void> {
    await this.makeQuiet(callId);
    await this.crash();
  }
}

/** Migrated once per test process, then copied. */
export async function newDatabase() {
  const server = await testDatabase();
  const template = await server.template('tool-registry', async (database) => {
    const world = await TestWorld.open({ database, services: ['tool-registry'] });
    await world.databaseOf('tool-registry', toolRegistry.migrations);
    await world.close();
  });
  return await server.createDatabase({ template });
}

async function start(world: TestWorld, folder: string): Promise<TestService> {
  return await startTestService(world, toolRegistry, {
    environment: environmentOf(folder),
    providers: ({ dataSource }) => [
      { provide: DATA_SOURCE, useValue: dataSource },
      { provide: LOGGER, useValue: SILENT },
    ],
  });
}
