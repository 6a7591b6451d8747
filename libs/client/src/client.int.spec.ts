import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { ConflictError, NotFoundError } from '@lineclear/errors';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { LineclearClient } from './client.js';

type Answer = (request: IncomingMessage, response: ServerResponse, body: string) => void;

const answerJson =
  (status: number, body: unknown): Answer =>
  (_request, response) => {
    response.writeHead(status, { 'content-type': status < 400 ? 'application/json' : 'application/problem+json' });
    response.end(JSON.stringify(body));
  };

describe('the client', () => {
  let server: Server;
  let url: string;
  let answer: Answer;
  const seen: { method?: string | undefined; url?: string | undefined; token: string | undefined; body: string }[] = [];

  beforeAll(async () => {
    server = createServer((request, response) => {
      let body = '';
      request.on('data', (chunk) => (body += String(chunk)));
      request.on('end', () => {
        seen.push({ method: request.method, url: request.url, token: request.headers.authorization, body });
        answer(request, response, body);
      });
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });

  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });

  const client = (timeoutMs = 5_000) => new LineclearClient({ url, token: async () => 'secret', timeoutMs });

  it('sends the token and the path with quoted ids', async () => {
    answer = answerJson(200, { items: [] });
    await client().listAudit({ subject: 'run 1', limit: 2 });
    expect(seen.at(-1)).toMatchObject({
      method: 'GET',
      url: '/v1/audit?subject=run+1&limit=2',
      token: 'Bearer secret',
    });
    await client().dropParked('trace-store.a/b', 'broken');
    expect(seen.at(-1)).toMatchObject({
      method: 'POST',
      url: '/v1/parked/trace-store.a%2Fb/drop',
      body: '{"reason":"broken"}',
    });
  });

  it('turns a problem back into the error that it was', async () => {
    answer = answerJson(409, {
      code: 'already-decided',
      detail: 'decided by `ann`',
      details: { by: 'ann' },
      where: 'status',
    });
    const decided = client().decide('apr_1', { action: 'approve' });
    await expect(decided).rejects.toBeInstanceOf(ConflictError);
    await expect(decided).rejects.toMatchObject({ code: 'already-decided', details: { by: 'ann', where: 'status' } });
    answer = answerJson(404, { code: 'not-found', detail: 'no such run', details: {} });
    await expect(client().getRun('run_x')).rejects.toBeInstanceOf(NotFoundError);
  });

  it('survives codes of a later version and answers of something else', async () => {
    answer = answerJson(418, { code: 'teapot', detail: 'short and stout', details: {} });
    await expect(client().getRun('r')).rejects.toMatchObject({ code: 'internal', message: 'short and stout' });
    answer = (_request, response) => response.writeHead(502).end('<html>');
    await expect(client().getRun('r')).rejects.toThrow(/is that the platform/);
  });

  it('says when nobody answers, and when it takes too long', async () => {
    answer = () => undefined;
    await expect(client(50).getRun('r')).rejects.toMatchObject({ code: 'timed-out' });
    const nobody = new LineclearClient({ url: 'http://127.0.0.1:1' });
    await expect(nobody.getRun('r')).rejects.toMatchObject({ code: 'unavailable' });
  });

  it('does not follow a redirect with the token', async () => {
    answer = (_request, response) => response.writeHead(302, { location: 'http://127.0.0.1:1/' }).end();
    await expect(client().getRun('r')).rejects.toMatchObject({ code: 'unavailable' });
  });

  it('waits for the end of a run, over a stream that breaks', async () => {
    let state = 'reasoning';
    answer = (request, response, body) => {
      if (request.url?.endsWith('/events') !== true)
        return answerJson(200, { runId: 'r', state })(request, response, body);
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.end(state === 'reasoning' ? ': open\n\n' : 'id: 1\nevent: lineclear.run.finished.v1\ndata: {}\n\n');
      state = state === 'reasoning' ? 'gating' : 'answered';
    };
    expect(await client().waitForRun('r')).toMatchObject({ state: 'answered' });
  });

  it('gives up waiting after its time', async () => {
    answer = (request, response, body) => {
      if (request.url?.endsWith('/events') !== true)
        return answerJson(200, { runId: 'r', state: 'gating' })(request, response, body);
      response.writeHead(200, { 'content-type': 'text/event-stream' }).write(': open\n\n');
    };
    await expect(client().waitForRun('r', { timeoutMs: 200 })).rejects.toMatchObject({ code: 'timed-out' });
  });
});
