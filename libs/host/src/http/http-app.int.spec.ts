import { Body, Controller, Get, Module, Param, Post, Query } from '@nestjs/common';
import { DiscoveryModule, DiscoveryService } from '@nestjs/core';
import type { Principal } from '@lineclear/contracts';
import { ConflictError, NotFoundError, TransientError, UnauthorizedError } from '@lineclear/errors';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { describedRoutes } from '../docs/described-routes.js';
import { Describe } from '../docs/describe.js';
import { docsPage } from '../docs/docs-page.js';
import { openApiDocument } from '../docs/openapi.js';
import { createHttpApp, type HttpApp } from './http-app.js';
import { CurrentPrincipal, Public, Roles } from './principal.js';
import { RawBody } from './raw-body.js';

const ANN: Principal = { tenant: 'acme', subject: 'ann', roles: ['clerk'], scopes: [] };
const OPS: Principal = { ...ANN, subject: 'olga', roles: ['operator'] };
const TOKENS: Readonly<Record<string, Principal>> = { ann: ANN, ops: OPS };

const pageQuery = z.strictObject({ limit: z.coerce.number().int().min(1).max(100).default(20) });
const order = z.strictObject({ amount: z.int().positive(), note: z.string().optional() });

@Controller('v1/orders')
class OrdersController {
  @Get()
  @Describe({ summary: 'Lists orders.', answer: z.array(z.string()) })
  list(@Query({ schema: pageQuery }) query: { limit: number }, @CurrentPrincipal() principal: Principal) {
    return { limit: query.limit, tenant: principal.tenant };
  }

  @Get(':id')
  show(@Param('id') id: string) {
    if (id === 'bug') throw new TypeError('secret hunter2');
    if (id === 'away') throw new TransientError('database-unavailable', 'the database is away', { retryAfterMs: 2500 });
    if (id === 'done')
      throw new ConflictError('already-decided', 'decided', { details: { where: 'status', by: 'ann' } });
    throw new NotFoundError(`order \`${id}\` does not exist`);
  }

  @Post()
  @Roles('operator')
  @Describe({ summary: 'Adds an order.' })
  add(@Body({ schema: order }) body: z.infer<typeof order>) {
    return body;
  }

  @Post('raw')
  @RawBody()
  raw(@Body() body: Buffer | undefined) {
    return { bytes: body?.toString('latin1') };
  }

  @Get('public/ping')
  @Public()
  ping() {
    return 'pong';
  }
}

@Module({ imports: [DiscoveryModule], controllers: [OrdersController] })
class OrdersModule {}

describe('HTTP of a service', () => {
  let http: HttpApp;
  const failures: unknown[] = [];

  beforeAll(async () => {
    http = await createHttpApp(OrdersModule, {
      bodyLimitBytes: 1000,
      logger: false,
      service: 'orders',
      failed: (error) => failures.push(error),
      verifier: {
        verify: async (token) => {
          const principal = TOKENS[token];
          if (principal === undefined) throw new UnauthorizedError('unknown');
          return principal;
        },
      },
    });
    await http.app.init();
    await http.fastify.ready();
  });

  afterAll(async () => {
    await http.app.close();
  });

  const call = (method: 'GET' | 'POST', url: string, options: { token?: string; body?: string; type?: string } = {}) =>
    http.fastify.inject({
      method,
      url,
      headers: {
        ...(options.token !== undefined && { authorization: `Bearer ${options.token}` }),
        ...(options.body !== undefined && { 'content-type': options.type ?? 'application/json' }),
      },
      ...(options.body !== undefined && { body: options.body }),
    });

  it('gives the route the verified caller and converted parameters', async () => {
    const answer = await call('GET', '/v1/orders?limit=7', { token: 'ann' });
    expect(answer.statusCode).toBe(200);
    expect(answer.json()).toEqual({ limit: 7, tenant: 'acme' });
  });

  it.each([undefined, 'nobody', 'a b', ''])('answers 401 with the same body for the token %j', async (token) => {
    const answer = await call('GET', '/v1/orders', token === undefined ? {} : { token });
    expect(answer.statusCode).toBe(401);
    expect(answer.headers['www-authenticate']).toBe('Bearer');
    expect(answer.json()).toMatchObject({ code: 'unauthorized', details: {}, instance: '/v1/orders' });
  });

  it('answers 403 with the missing role', async () => {
    const answer = await call('POST', '/v1/orders', { token: 'ann', body: '{"amount":1}' });
    expect(answer.statusCode).toBe(403);
    expect(answer.json()).toMatchObject({ code: 'forbidden', seen: ['clerk'], expected: ['operator'] });
  });

  it('lets a public route answer without a token', async () => {
    expect((await call('GET', '/v1/orders/public/ping')).body).toBe('pong');
  });

  it.each([
    ['{"amount":-1}', 'body.amount', '-1'],
    ['{"amount":"5"}', 'body.amount', '"5"'],
    ['{}', 'body.amount', 'nothing'],
    ['{"amount":1,"extra":true}', 'body', '{"amount":1,"extra":true}'],
  ])('answers 400 that names the place for %s', async (body, where, seen) => {
    const answer = await call('POST', '/v1/orders', { token: 'ops', body });
    expect(answer.statusCode).toBe(400);
    expect(answer.headers['content-type']).toContain('application/problem+json');
    expect(answer.json()).toMatchObject({ code: 'invalid-request', where, seen, expected: expect.any(String) });
  });

  it.each([
    ['{"amount":', 'application/json', 400],
    ['{"amount":12345678901234567891}', 'application/json', 400],
    ['amount', 'text/plain', 415],
    [`"${'x'.repeat(2000)}"`, 'application/json', 413],
  ])('refuses the body %.40s as %s with %i', async (body, type, status) => {
    const answer = await call('POST', '/v1/orders', { token: 'ops', body, type });
    expect(answer.statusCode).toBe(status === 415 ? 400 : status);
    expect(answer.json()).toMatchObject({ detail: expect.any(String), expected: expect.any(String) });
  });

  it.each(['application/json', 'application/cloudevents+json', 'application/x-www-form-urlencoded', 'text/plain'])(
    'gives a raw route the bytes of %s as they came',
    async (type) => {
      const answer = await call('POST', '/v1/orders/raw', { token: 'ann', body: '{"broken', type });
      expect([answer.statusCode, answer.json()]).toEqual([201, { bytes: '{"broken' }]);
    },
  );

  it('answers 404 for an unknown route and an unknown thing alike', async () => {
    for (const url of ['/v1/nothing', '/v1/orders/o-1']) {
      const answer = await call('GET', url, { token: 'ann' });
      expect(answer.statusCode).toBe(404);
      expect(answer.json()).toMatchObject({ code: 'not-found', traceId: expect.stringMatching(/^[0-9a-f]{32}$/) });
    }
  });

  it('carries the facts of a conflict', async () => {
    const answer = await call('GET', '/v1/orders/done', { token: 'ann' });
    expect(answer.statusCode).toBe(409);
    expect(answer.json()).toMatchObject({ code: 'already-decided', where: 'status', details: { by: 'ann' } });
  });

  it('tells nothing about a bug and gives the log all of it', async () => {
    const answer = await call('GET', '/v1/orders/bug', { token: 'ann' });
    expect(answer.statusCode).toBe(500);
    expect(answer.body).not.toContain('hunter2');
    expect(failures.at(-1)).toBeInstanceOf(TypeError);
  });

  it('says when to come back', async () => {
    const answer = await call('GET', '/v1/orders/away', { token: 'ann' });
    expect(answer.statusCode).toBe(503);
    expect(answer.headers['retry-after']).toBe('3');
  });

  it('documents its routes from their schemas', () => {
    const routes = describedRoutes(http.app.get(DiscoveryService, { strict: false }));
    const document = openApiDocument('orders', '0.1.0', routes);
    expect(document.paths).toMatchObject({
      '/v1/orders': {
        get: { summary: 'Lists orders.', parameters: [{ name: 'limit', in: 'query', required: false }] },
        post: {
          summary: 'Adds an order. Needs the role operator.',
          requestBody: { content: { 'application/json': { schema: { required: ['amount'] } } } },
        },
      },
      '/v1/orders/{id}': { get: { parameters: [{ name: 'id', in: 'path', required: true }] } },
      '/v1/orders/public/ping': { get: { security: [] } },
    });
    expect(docsPage(document)).toContain('<code>GET /v1/orders/{id}</code>');
    expect(http.routes).toContainEqual({ method: 'GET', path: '/v1/orders/:id' });
  });
});
