import { connect } from 'node:net';
import { Body, Controller, Get, Inject, Module, Post, type StreamableFile } from '@nestjs/common';
import type { Principal } from '@lineclear/contracts';
import { InvariantViolationError, UnauthorizedError } from '@lineclear/errors';
import {
  COMMAND_SENDER,
  type CommandSender,
  EmbeddedBus,
  Handles,
  type LaneContext,
  type LaneInput,
} from '@lineclear/messaging';
import { createDataSource, type DatabaseConfig, provisionServiceDatabase } from '@lineclear/persistence';
import { eventually, testDatabase } from '@lineclear/test-kit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { eventStream } from '../http/event-stream.js';
import { CurrentPrincipal, Public } from '../http/principal.js';
import { CLOSING, type RunningService, type ServiceDefinition } from '../service-definition.js';
import { unwrap } from '../unwrap.js';
import { bootService } from './boot-service.js';

const ANN: Principal = { tenant: 'acme', subject: 'ann', roles: ['operator'], scopes: [] };
const verifier = {
  verify: async (token: string) => {
    if (token !== 'ann') throw new UnauthorizedError();
    return ANN;
  },
};

@Controller('v1/echo')
class EchoController {
  constructor(
    @Inject(COMMAND_SENDER) private readonly commands: CommandSender,
    @Inject(CLOSING) private readonly closing: AbortSignal,
  ) {}

  @Post()
  async echo(
    @Body({ schema: z.strictObject({ text: z.string() }) }) payload: { text: string },
    @CurrentPrincipal() by: Principal,
  ) {
    return unwrap(await this.commands.send({ name: 'echo', key: by.subject, tenant: by.tenant, payload, by }));
  }

  @Get('stream')
  @Public()
  stream(): StreamableFile {
    return eventStream({ closing: this.closing, read: async () => [] });
  }
}

@Controller()
class EchoConsumer {
  @Handles({ commands: ['echo'] })
  handleEcho(input: LaneInput, { writes }: LaneContext): void {
    if (input.kind !== 'command') return;
    const { text } = input.payload as { text: string };
    if (text === 'no')
      throw new InvariantViolationError('already-decided', 'the answer is `no`', { details: { by: 'x' } });
    writes.answer({ ok: true, value: { text, by: input.by?.subject } });
  }
}

@Module({ controllers: [EchoController, EchoConsumer] })
class EchoModule {}

const echo: ServiceDefinition<string> = {
  name: 'memory-store',
  migrations: [],
  config: (environment) => environment['GREETING'] ?? '',
  module: () => EchoModule,
};

describe('a booted service', () => {
  let admin: DatabaseConfig;
  let database: DatabaseConfig;
  let bus: EmbeddedBus;
  let service: RunningService;
  const authorization = { authorization: 'Bearer ann', 'content-type': 'application/json' };

  beforeAll(async () => {
    admin = await (await testDatabase()).createDatabase();
    database = await provisionServiceDatabase(admin, { schema: 'memory_store' });
    bus = await EmbeddedBus.start({ database: admin });
    service = await bootService(echo, { environment: { LOG_LEVEL: 'silent' }, database, bus, verifier, port: 0 });
  });

  afterAll(async () => {
    await service.stop();
    await bus.stop();
  });

  it('takes a command from HTTP through the mailbox and the lane, and answers its result', async () => {
    const answer = await service.inject({
      method: 'POST',
      url: '/v1/echo',
      headers: authorization,
      body: '{"text":"hi"}',
    });
    expect([answer.status, JSON.parse(answer.body)]).toEqual([201, { text: 'hi', by: 'ann' }]);
  });

  it('answers the failure of a command as a problem', async () => {
    const answer = await service.inject({
      method: 'POST',
      url: '/v1/echo',
      headers: authorization,
      body: '{"text":"no"}',
    });
    expect(answer.status).toBe(409);
    expect(JSON.parse(answer.body)).toMatchObject({ code: 'already-decided', details: { by: 'x' } });
  });

  it('listens on loopback and says that it is ready, and what it serves', async () => {
    const get = async (path: string) => (await fetch(`${service.url}${path}`)).json();
    expect(new URL(service.url ?? '').hostname).toBe('127.0.0.1');
    expect(await get('/health')).toMatchObject({ status: 'ok', service: 'memory-store' });
    expect(await eventually(async () => (await service.ready()).ready)).toBe(true);
    expect(await get('/ready')).toEqual({ ready: true, reasons: [] });
    const { paths } = (await get('/docs/openapi.json')) as { paths: object };
    expect(Object.keys(paths)).toEqual(expect.arrayContaining(['/v1/echo', '/v1/parked/{id}/drop', '/metrics']));
    expect(await (await fetch(`${service.url}/docs`)).text()).toContain('POST /v1/echo');
    expect(service.routes).toContainEqual({ method: 'POST', path: '/v1/parked/:id/redrive' });
  });

  it('lists what is set aside to operators of the tenant only', async () => {
    const insert = `INSERT INTO memory_store.held (key, n, shard, held_id, source, id, topic, partition, "offset", type, headers, data, state, attempts, failure)
      SELECT 'k' || n, 1, 0, 'h' || n, 's', 'i' || n, 'runs', 0, n, 't', headers, '{}', 'parked', 3, '{"code":"internal","message":"m"}'
      FROM (VALUES (1, '{"ce_tenant":"acme"}'), (2, '{"ce_tenant":"other"}'), (3, '{}'), (4, '{"ce_tenant":"a\\u0000"}')) AS v(n, headers)`;
    const source = await createDataSource(admin, []);
    await source.query(insert);
    await source.destroy();
    const list = await service.inject({ method: 'GET', url: '/v1/parked', headers: authorization });
    expect((JSON.parse(list.body) as { items: { id: string }[] }).items.map(({ id }) => id)).toEqual([
      'memory-store.h1',
      'memory-store.h3',
      'memory-store.h4',
    ]);
    const show = async (id: string) =>
      service.inject({ method: 'GET', url: `/v1/parked/${id}`, headers: authorization });
    expect(JSON.parse((await show('memory-store.h1')).body)).toMatchObject({ data: '{}', attempts: 3, error: 'm' });
    expect(JSON.parse((await show('memory-store.h3')).body)).toMatchObject({ data: null, headers: {} });
    for (const id of ['memory-store.h2', 'h1', 'orchestrator.h1', '%', "memory-store.' OR 1=1"])
      expect((await show(encodeURIComponent(id))).status).toBe(404);
  });

  it('says which port is taken', async () => {
    const port = Number(new URL(service.url ?? '').port);
    const second = { ...echo, name: 'trace-store' } as const;
    const other = await provisionServiceDatabase(admin, { schema: 'trace_store' });
    await expect(
      bootService(second, { environment: { LOG_LEVEL: 'silent' }, database: other, bus, verifier, port }),
    ).rejects.toMatchObject({ code: 'address-in-use', message: expect.stringContaining(`port ${port}`) });
  });

  it('ends its streams, closes its port and its connections when it stops', async () => {
    const stream = await fetch(`${service.url}/v1/echo/stream`);
    const text = stream.text();
    const begun = performance.now();
    await Promise.all([service.stop(), service.stop()]);
    expect(await text).toBe(': open\n\n');
    expect(performance.now() - begun).toBeLessThan(2_000);
    expect(await service.ready()).toMatchObject({ ready: false });
    const port = Number(new URL(service.url ?? '').port);
    const refused = new Promise((resolve) => connect(port, '127.0.0.1').once('error', resolve));
    expect(await refused).toMatchObject({ code: 'ECONNREFUSED' });
  });
});
