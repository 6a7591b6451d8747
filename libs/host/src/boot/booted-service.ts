import type { ServiceName } from '@lineclear/contracts';
import type { DataSource } from 'typeorm';
import type { OpenApiDocument } from '../docs/openapi.js';
import type { HttpApp, Route } from '../http/http-app.js';
import type { ServiceStatus } from '../probes/probes.controller.js';
import type { InternalAnswer, InternalRequest, RunningService } from '../service-definition.js';

interface Parts {
  readonly name: ServiceName;
  readonly url: string | undefined;
  readonly http: HttpApp;
  readonly dataSource: DataSource;
  readonly closing: AbortController;
  readonly status: ServiceStatus;
  readonly failed: Promise<unknown>;
}

/** How long open requests may take once a stop has begun. */
const REQUESTS_MS = 1_500;

type Routing = (request: unknown, response: unknown) => void;

/** A service that runs, as its host and the front port see it. */
export class BootedService implements RunningService {
  readonly name: ServiceName;
  readonly url: string | undefined;
  readonly failed: Promise<unknown>;
  #stopping: Promise<void> | undefined;

  constructor(private readonly parts: Parts) {
    this.name = parts.name;
    this.url = parts.url;
    this.failed = parts.failed;
  }

  get routes(): readonly Route[] {
    return this.parts.http.routes;
  }

  route(request: unknown, response: unknown): void {
    (this.parts.http.fastify.routing as unknown as Routing)(request, response);
  }

  async inject({ method, url, headers = {}, body }: InternalRequest): Promise<InternalAnswer> {
    const answer = await this.parts.http.fastify.inject({ method, url, headers, ...(body !== undefined && { body }) });
    const texts = Object.entries(answer.headers).map(([name, value]) => [name, String(value)] as const);
    return { status: answer.statusCode, headers: Object.fromEntries(texts), body: answer.body };
  }

  openApi(): OpenApiDocument {
    return this.parts.status.openApi();
  }

  async ready(): Promise<{ ready: boolean; reasons: readonly string[] }> {
    const reasons = await this.parts.status.reasons();
    return { ready: reasons.length === 0, reasons };
  }

  stop(): Promise<void> {
    this.#stopping ??= this.#stop();
    return this.#stopping;
  }

  /** Nest's order: HTTP closes, then the lane drains, so that a command that a request waits for is still answered. */
  async #stop(): Promise<void> {
    const { closing, http, dataSource } = this.parts;
    closing.abort();
    const cut = setTimeout(() => http.fastify.server.closeAllConnections(), REQUESTS_MS);
    await http.app.close();
    clearTimeout(cut);
    await dataSource.destroy();
  }
}
