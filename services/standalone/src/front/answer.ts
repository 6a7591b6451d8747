import { randomUUID } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { problemOf } from '@lineclear/host';

/** What the front port answers by itself. */
export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export const json = (body: unknown, status = 200): Answer => ({
  status,
  headers: { 'content-type': 'application/json; charset=utf-8' },
  body: JSON.stringify(body),
});

export const text = (contentType: string, body: string): Answer => ({
  status: 200,
  headers: { 'content-type': `${contentType}; charset=utf-8` },
  body,
});

export function problem(error: unknown, path: string): Answer {
  const { status, headers, body } = problemOf(error, path, randomUUID().replaceAll('-', ''));
  return { status, headers, body: JSON.stringify(body) };
}

/** Writes an answer; to HEAD its headers alone. */
export function send(response: ServerResponse, { status, headers, body }: Answer): void {
  response.writeHead(status, { ...headers, 'content-length': String(Buffer.byteLength(body)) });
  response.end(response.req.method === 'HEAD' ? undefined : body);
}
