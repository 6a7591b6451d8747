import { setTimeout as delay } from 'node:timers/promises';
import type { ServerConfig } from '../../config/tools-file.js';
import type { ServerSight } from '../../domain/observe-server.js';
import { type ConnectionOptions, type Era, ServerConnection } from './server-connection.js';

const FIRST_BACKOFF_MS = 100;
const LAST_BACKOFF_MS = 30_000;
/** A server that lived so long starts again at once, as if it had never failed. */
const STEADY_MS = 60_000;
const RELIST_MS = 60_000;

export interface SupervisorOptions extends Pick<ConnectionOptions, 'cwd' | 'environment'> {
  /** Told of every list, and of a server that is away; not of one that comes back at its first restart. */
  readonly report: (server: ServerConfig, sight: ServerSight) => void;
}

/** Keeps one server running: restarts it with backoff and full jitter for as long as we live. Its trouble is nobody else's. */
export class ServerSupervisor {
  readonly #stopping = new AbortController();
  #connection: ServerConnection | undefined;
  #waiters: (() => void)[] = [];
  #isAway = false;
  #failures = 0;
  #era: Era | undefined;
  #running: Promise<void> = Promise.resolve();

  constructor(
    readonly server: ServerConfig,
    private readonly options: SupervisorOptions,
  ) {}

  start(): void {
    this.#running = this.#run();
  }

  /**
   * The connection, waited for while the server starts or restarts; undefined when it is away, the time is over or the signal aborts.
   */
  async connected(waitMs: number, signal: AbortSignal): Promise<ServerConnection | undefined> {
    if (this.#connection !== undefined) return this.#connection;
    const deadline = AbortSignal.any([signal, AbortSignal.timeout(waitMs), this.#stopping.signal]);
    while (this.#connection === undefined && !this.#isAway && !deadline.aborted) {
      const change = new Promise<void>((resolve) => this.#waiters.push(resolve));
      const over = new Promise<void>((resolve) => deadline.addEventListener('abort', () => resolve(), { once: true }));
      await Promise.race([change, over]);
    }
    return this.#connection;
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#running;
  }

  async #run(): Promise<void> {
    while (!this.#stopping.signal.aborted) {
      const startedAt = performance.now();
      const reason = await this.#live();
      if (this.#stopping.signal.aborted) return;
      this.#failures = performance.now() - startedAt > STEADY_MS ? 1 : this.#failures + 1;
      if (this.#failures > 1 || this.#era === undefined) this.#away(reason);
      await this.#backoff();
    }
  }

  /** One life of the process, from its start to its end; gives the reason of the end. */
  async #live(): Promise<string> {
    const { cwd, environment, report } = this.options;
    const { signal } = this.#stopping;
    let connection: ServerConnection | undefined;
    const close = () => void connection?.close();
    try {
      connection = await ServerConnection.open({ server: this.server, cwd, environment, era: this.#era, signal });
      signal.addEventListener('abort', close);
      if (signal.aborted) return 'stopped';
      report(this.server, { tools: await connection.list() });
      this.#up(connection);
      return await this.#keep(connection);
    } catch (error) {
      // some old servers end at the question which revision they speak: next time it is not asked, and then asked again
      this.#era = this.#era === undefined && isEraProblem(error) ? 'legacy' : undefined;
      return error instanceof Error ? error.message : String(error);
    } finally {
      signal.removeEventListener('abort', close);
      this.#connection = undefined;
      await connection?.close();
    }
  }

  /** Lists again whenever told, and now and then, until the connection ends. */
  async #keep(connection: ServerConnection): Promise<string> {
    let told = Promise.withResolvers<void>();
    await connection.watch(() => told.resolve());
    const ended = connection.ended.then((reason) => ({ reason }));
    for (;;) {
      const pause = new AbortController();
      const timer = delay(RELIST_MS, undefined, { signal: pause.signal, ref: false }).catch(() => undefined);
      const end = await Promise.race([ended, told.promise, timer]);
      pause.abort();
      if (end !== undefined) return end.reason;
      told = Promise.withResolvers<void>();
      this.options.report(this.server, { tools: await connection.list() });
    }
  }

  #up(connection: ServerConnection): void {
    this.#connection = connection;
    this.#era = connection.era;
    this.#isAway = false;
    this.#changed();
  }

  #away(reason: string): void {
    this.#isAway = true;
    this.options.report(this.server, { obstacle: reason });
    this.#changed();
  }

  #changed(): void {
    for (const wake of this.#waiters.splice(0)) wake();
  }

  async #backoff(): Promise<void> {
    const most = Math.min(LAST_BACKOFF_MS, FIRST_BACKOFF_MS * 2 ** (this.#failures - 1));
    const pauseMs = this.#failures === 1 ? FIRST_BACKOFF_MS : Math.random() * most;
    await delay(pauseMs, undefined, { signal: this.#stopping.signal }).catch(() => undefined);
  }
}

const isEraProblem = (error: unknown): boolean =>
  error instanceof Error && error.cause instanceof Error && /negotiation/i.test(error.cause.message);
