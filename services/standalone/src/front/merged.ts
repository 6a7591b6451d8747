import type { IncomingHttpHeaders } from 'node:http';
import { docsPage, type OpenApiDocument, PRODUCT_VERSION, type RunningService } from '@lineclear/host';
import { metricsText } from '@lineclear/telemetry';
import { type Answer, json, text } from './answer.js';

export type Handler = (headers: IncomingHttpHeaders) => Promise<Answer>;

/** Paths that every service serves and the front port answers for all of them. */
export function mergedHandlers(services: readonly RunningService[]): ReadonlyMap<string, Handler> {
  return new Map<string, Handler>([
    ['/health', async () => json({ status: 'ok', service: 'lineclear', version: PRODUCT_VERSION })],
    ['/ready', () => ready(services)],
    ['/metrics', async () => text('text/plain; version=0.0.4', await metricsText())],
    ['/docs', async () => text('text/html', docsPage(documentOf(services)))],
    ['/docs/openapi.json', async () => json(documentOf(services))],
    ['/v1/parked', (headers) => parked(services, headers)],
  ]);
}

async function ready(services: readonly RunningService[]): Promise<Answer> {
  const states = await Promise.all(
    services.map(async (service) => ({ name: service.name, ...(await service.ready()) })),
  );
  const reasons = states.flatMap(({ name, reasons: own }) => own.map((reason) => `${name}: ${reason}`));
  return json({ ready: reasons.length === 0, reasons }, reasons.length === 0 ? 200 : 503);
}

/** Each service checks the token itself; the first refusal is the answer. */
async function parked(services: readonly RunningService[], headers: IncomingHttpHeaders): Promise<Answer> {
  const { authorization } = headers;
  const answers = await Promise.all(
    services.map((service) =>
      service.inject({
        method: 'GET',
        url: '/v1/parked',
        headers: authorization === undefined ? {} : { authorization },
      }),
    ),
  );
  const refused = answers.find(({ status }) => status !== 200);
  if (refused !== undefined) {
    const { 'content-type': contentType = 'application/json' } = refused.headers;
    return { status: refused.status, headers: { 'content-type': contentType }, body: refused.body };
  }
  const items = answers.flatMap(({ body }) => (JSON.parse(body) as { items: { since: string }[] }).items);
  return json({ items: items.sort((a, b) => (a.since < b.since ? -1 : 1)) });
}

function documentOf(services: readonly RunningService[]): OpenApiDocument {
  const documents = services.map((service) => service.openApi());
  const paths: Record<string, Record<string, unknown>> = {};
  for (const document of documents)
    for (const [path, operations] of Object.entries(document.paths)) paths[path] = { ...operations, ...paths[path] };
  const info = { title: 'Lineclear', version: PRODUCT_VERSION };
  return { openapi: '3.1.0', ...documents[0], info, paths };
}
