import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { type HostedService, startHosted } from '@lineclear/host/testing';
import { eventually } from '@lineclear/test-kit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { environmentOf, oddProject, RegistryPen } from '../../testing/registry-pen.testsuite.js';
import { newDatabase } from '../../testing/registry-world.testsuite.js';
import { toolRegistry } from '../../tool-registry.js';

const CLERK = { tenant: 'acme', subject: 'carl' };
const OPERATOR = { tenant: 'acme', subject: 'olga', roles: ['operator'] };
const STRANGER = { tenant: 'globex', subject: 'otto', roles: ['operator'] };

let hosted: HostedService;
let pen: RegistryPen;

beforeAll(async () => {
  const { folder, keys } = await oddProject({ write: true, key: 'none', timeoutMs: 200 });
  hosted = await startHosted(toolRegistry, { database: await newDatabase(), environment: environmentOf(folder) });
  pen = new RegistryPen(hosted.world, folder, keys);
  await pen.definitionHash();
  await pen.definitionHash('read_result');
});

afterAll(async () => {
  await hosted.stop();
  rmSync(pen.folder, { recursive: true, force: true });
});

describe('GET /v1/tools', () => {
  it('lists every tool with its status', async () => {
    expect(await hosted.call(CLERK, 'GET', '/v1/tools')).toMatchObject({
      status: 200,
      body: {
        items: [
          { name: 'odd.act', server: 'odd', originalName: 'act', alias: 'odd_act', status: 'available', reason: null },
          { name: 'read_result', server: 'built-in', status: 'available' },
        ],
      },
    });
  });

  it('shows one with its pinned definition', async () => {
    expect(await hosted.call(CLERK, 'GET', '/v1/tools/odd.act')).toMatchObject({
      status: 200,
      body: {
        traits: { key: 'none' },
        pinned: { definition: { description: 'Acts.' } },
        seen: null,
        changed: [],
        disabledBy: null,
      },
    });
    expect(await hosted.call(CLERK, 'GET', '/v1/tools/odd.none')).toMatchObject({
      status: 404,
      body: { code: 'not-found' },
    });
  });

  it('needs a token', async () => {
    expect(await hosted.call(null, 'GET', '/v1/tools')).toMatchObject({ status: 401 });
  });
});

describe('POST /v1/tools/{name}/disable and enable', () => {
  it('are for operators, with a reason', async () => {
    const url = '/v1/tools/odd.act/disable';
    expect(await hosted.call(CLERK, 'POST', url, { reason: 'x' })).toMatchObject({ status: 403 });
    expect(await hosted.call(OPERATOR, 'POST', url, {})).toMatchObject({ status: 400 });
    expect(await hosted.call(OPERATOR, 'POST', url, { reason: ' ' })).toMatchObject({ status: 400 });
    expect(await hosted.call(OPERATOR, 'POST', url, { reason: 'x', by: 'carl' })).toMatchObject({ status: 400 });
    expect(await hosted.call(OPERATOR, 'POST', '/v1/tools/odd.none/disable', { reason: 'x' })).toMatchObject({
      status: 404,
    });
  });

  it('take effect at once', async () => {
    expect(await hosted.call(OPERATOR, 'POST', '/v1/tools/odd.act/disable', { reason: 'incident 7' })).toMatchObject({
      status: 200,
      body: { name: 'odd.act', status: 'disabled', reason: 'incident 7' },
    });
    expect(await hosted.call(CLERK, 'GET', '/v1/tools/odd.act')).toMatchObject({
      body: { status: 'disabled', disabledBy: 'olga' },
    });
    expect(await pen.completed(await pen.authorize(pen.newRun(), { id: 'x' }))).toMatchObject({
      reason: 'tool-disabled',
    });
    expect(await hosted.call(OPERATOR, 'POST', '/v1/tools/odd.act/enable', { reason: 'solved' })).toMatchObject({
      body: { status: 'available' },
    });
    expect(await pen.completed(await pen.authorize(pen.newRun(), { id: 'x' }))).toMatchObject({ status: 'succeeded' });
  });

  it('accept no definition that nobody sees', async () => {
    const body = { reason: 'x', definitionHash: '0'.repeat(64) };
    expect(await hosted.call(OPERATOR, 'POST', '/v1/tools/odd.act/accept', body)).toMatchObject({ status: 409 });
  });
});

describe('calls whose outcome is unknown', () => {
  it('are listed for operators of the tenant, and resolved once no attempt can act', async () => {
    const call = await pen.authorize(pen.newRun(), { id: 'lost', mode: 'lost-reply' });
    expect(await pen.completed(call)).toMatchObject({ status: 'unknown' });
    const list = (caller: typeof OPERATOR) => hosted.call(caller, 'GET', '/v1/calls?status=unknown');
    expect(await list(OPERATOR)).toMatchObject({
      status: 200,
      body: { items: [{ callId: call, tool: 'odd.act', key: expect.stringMatching(/^lck_/) }] },
    });
    expect(await list(STRANGER)).toMatchObject({ body: { items: [] } });
    expect(await hosted.call(CLERK, 'GET', '/v1/calls')).toMatchObject({ status: 403 });
    expect(await hosted.call(OPERATOR, 'GET', '/v1/calls?status=failed')).toMatchObject({ status: 400 });

    const resolve = (caller: typeof OPERATOR, body: object) =>
      hosted.call(caller, 'POST', `/v1/calls/${call}/resolve`, body);
    const body = { outcome: 'happened', result: { document: 'DOC-1' }, reason: 'seen in the ledger' };
    expect(await resolve(STRANGER, body)).toMatchObject({ status: 404 });
    expect(await resolve(OPERATOR, { ...body, outcome: 'maybe' })).toMatchObject({ status: 400 });
    expect(await resolve(OPERATOR, body)).toMatchObject({ status: 409, body: { code: 'attempt-open' } });
    expect(await hosted.call(OPERATOR, 'POST', '/v1/calls/nonsense/resolve', body)).toMatchObject({ status: 404 });
    expect((await pen.eventsOf(call.slice(0, 28))).some(({ name }) => name === 'tool-call.resolved')).toBe(false);
  });
});

describe('a message that is dropped', () => {
  it('is answered, so that nobody waits for it', async () => {
    const { folder, keys } = await oddProject({ write: true, key: 'none' });
    rmSync(join(folder, 'jwks.json'));
    const second = await startHosted(toolRegistry, {
      database: await newDatabase(),
      environment: environmentOf(folder),
    });
    const writer = new RegistryPen(second.world, folder, keys);
    const call = await writer.authorize(writer.newRun(), { id: 'x' });
    const parked = await eventually(async () => {
      const { body } = await second.call(OPERATOR, 'GET', '/v1/parked');
      return (body as { items: { id: string }[] }).items[0] ?? false;
    });
    expect(
      await second.call(OPERATOR, 'POST', `/v1/parked/${parked.id}/drop`, { reason: 'keys are gone' }),
    ).toMatchObject({ status: 200 });
    expect(await writer.completed(call)).toMatchObject({ status: 'not-dispatched', reason: 'dropped' });
    expect(writer.effects()).toEqual([]);
    await second.stop();
    rmSync(folder, { recursive: true, force: true });
  });
});
