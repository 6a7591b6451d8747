import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { ConfigError, NotFoundError, TransientError } from '@lineclear/errors';
import { listen, type PortSettings, type RunningService } from '@lineclear/host';
import { json, problem, send } from './answer.js';
import { type Handler, mergedHandlers } from './merged.js';
import { RouteTable } from './route-table.js';

const PARKED = '/v1/parked/';
const CUT_AFTER_MS = 2_000;

export interface FrontOptions extends PortSettings {
  /** answered at a path of their own, without a token */
  readonly extra?: Readonly<Record<string, unknown>>;
}

/**
 * The one port of a platform in one process: hands each request to the router of the service that registered its route, and answers itself what all of
 * them have. It listens from the first moment, so that a taken port is known at once, and answers 503 until `serve`.
 */
export class Front {
  readonly #table = new RouteTable<RunningService>();
  #services: readonly RunningService[] = [];
  #merged: ReadonlyMap<string, Handler> = new Map();
  #state: 'starting' | 'serving' | 'stopping' = 'starting';

  private constructor(
    private readonly server: Server,
    readonly url: string,
    private readonly extra: Readonly<Record<string, unknown>>,
  ) {
    server.on('request', (request, response) => this.#take(request, response));
  }

  /** @throws ConfigError `address-in-use` when the port that was asked for is taken */
  static async open({ host, port, isAsked, extra = {} }: FrontOptions): Promise<Front> {
    const server = createServer();
    const where = 'LINECLEAR_PORT';
    const url = await listen(server, { host, port, where }).catch((error: unknown) => {
      if (isAsked || !(error instanceof ConfigError) || error.code !== 'address-in-use') throw error;
      return listen(server, { host, port: 0, where });
    });
    return new Front(server, url, extra);
  }

  serve(services: readonly RunningService[]): void {
    this.#merged = mergedHandlers(services);
    this.#services = services;
    for (const service of services)
      for (const route of service.routes)
        if (!this.#merged.has(route.path) && !route.path.startsWith(PARKED)) this.#table.add(route, service);
    this.#state = 'serving';
  }

  /** No new requests from now on. */
  drain(): void {
    this.#state = 'stopping';
  }

  /** Resolves when no connection is left; what is still open after a moment is cut. */
  async close(): Promise<void> {
    this.drain();
    const closed = new Promise<void>((resolve) => this.server.close(() => resolve()));
    this.server.closeIdleConnections();
    const cut = setTimeout(() => this.server.closeAllConnections(), CUT_AFTER_MS);
    await closed;
    clearTimeout(cut);
  }

  #take(request: IncomingMessage, response: ServerResponse): void {
    const { method = 'GET', url = '/' } = request;
    const path = url.split('?', 1)[0] ?? '/';
    if (this.#state !== 'serving') {
      response.setHeader('connection', 'close');
      send(
        response,
        problem(new TransientError('unavailable', `the platform is ${this.#state}; try again in a moment`), path),
      );
      return;
    }
    const reads = method === 'GET' || method === 'HEAD';
    const merged = reads ? this.#merged.get(path) : undefined;
    if (merged !== undefined) void this.#answer(merged, request, response, path);
    else if (reads && Object.hasOwn(this.extra, path)) send(response, json(this.extra[path]));
    else this.#forward(method, url, path, request, response);
  }

  #forward(method: string, url: string, path: string, request: IncomingMessage, response: ServerResponse): void {
    const service = path.startsWith(PARKED) ? this.#ownerOf(path) : this.#table.find(method, url);
    if (service !== undefined) service.route(request, response);
    else send(response, problem(new NotFoundError(`there is no \`${method} ${path}\` here; see \`/docs\``), path));
  }

  /** The id of a parked message begins with its service. */
  #ownerOf(path: string): RunningService | undefined {
    return this.#services.find(({ name }) => path.startsWith(`${PARKED}${name}.`));
  }

  async #answer(handler: Handler, request: IncomingMessage, response: ServerResponse, path: string): Promise<void> {
    try {
      send(response, await handler(request.headers));
    } catch (error) {
      send(response, problem(error, path));
    }
  }
}
