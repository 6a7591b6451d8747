import { connectClient, type DatabaseConfig, toDatabaseError } from '@lineclear/persistence';
import type { Socket } from 'node:net';
import type pg from 'pg';
import { TransientError } from '@lineclear/errors';
import type { ReadHandle } from './batch.js';

/** A statement that takes longer than this is taken for one whose answer will never come. */
const SILENT_MS = 60_000;
const WATCH_MS = 5_000;
const CLOSE_MS = 1_000;

/** Named plans of reads kept per connection; more distinct texts than this run unnamed. */
const NAMED_READS = 64;

/**
 * Generic plans are made while tables are small and live until the next ANALYZE: without these, a plan that scans a whole table stays in use
 * while the table grows. Every statement of a lane finds its rows by key.
 */
const SETTINGS = 'SET jit = off; SET enable_seqscan = off; SET enable_hashjoin = off; SET enable_mergejoin = off';

/** The lane's one connection, with named statements. Serial: a statement waits for the one before. */
export class LaneConnection implements ReadHandle {
  #client: pg.Client | undefined;
  /** monotonic time at which the statement under way was sent */
  #sentAt: number | undefined;
  #watch: NodeJS.Timeout | undefined;
  #isClosed = false;
  readonly #names = new Map<string, string>();

  constructor(
    private readonly config: DatabaseConfig,
    private readonly name: string,
  ) {}

  /** False before `connect`, and once the connection is known to be lost. */
  get isOpen(): boolean {
    return this.#client !== undefined;
  }

  get schema(): string {
    return this.config.schema;
  }

  /** Connects anew; everything prepared is forgotten. @throws TransientError, ConfigError */
  async connect(): Promise<void> {
    await this.#drop();
    const onError = () => {
      this.#client = undefined;
    };
    const client = await connectClient(this.config, { name: this.name, plan: 'generic', onError });
    this.#names.clear();
    await client.query(SETTINGS);
    if (this.#isClosed) {
      await client.end();
      throw new TransientError('database-unavailable', 'the connection of the lane was closed meanwhile');
    }
    this.#client = client;
    this.#watch = setInterval(() => this.#cutIfSilent(client), WATCH_MS);
    this.#watch.unref();
  }

  async query<R extends object>(text: string, values: readonly unknown[] = []): Promise<R[]> {
    let name = this.#names.get(text);
    if (name === undefined && this.#names.size < NAMED_READS) {
      name = `r${this.#names.size}`;
      this.#names.set(text, name);
    }
    return await this.#send<R>(
      name === undefined ? { text, values: [...values] } : { name, text, values: [...values] },
    );
  }

  async execute<R extends object>(name: string | undefined, text: string, values: unknown[]): Promise<R[]> {
    return await this.#send<R>(name === undefined ? { text, values } : { name, text, values });
  }

  async #send<R extends object>(query: pg.QueryConfig): Promise<R[]> {
    const client = this.#client;
    if (client === undefined) throw new TransientError('database-unavailable', 'the connection of the lane is lost');
    this.#sentAt ??= performance.now();
    try {
      return (await client.query<R>(query)).rows;
    } catch (error) {
      throw toDatabaseError(error, this.config);
    } finally {
      this.#sentAt = undefined;
    }
  }

  /** A peer that accepts and then says nothing would stop the lane for good. */
  #cutIfSilent(client: pg.Client): void {
    if (this.#sentAt === undefined || performance.now() - this.#sentAt < SILENT_MS) return;
    this.#sentAt = undefined;
    this.#cut(client);
  }

  #cut(client: pg.Client): void {
    (client as unknown as { readonly connection: { readonly stream: Socket } }).connection.stream.destroy();
  }

  /** For good: a connection that is still being made is closed too. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#drop();
  }

  async #drop(): Promise<void> {
    const client = this.#client;
    this.#client = undefined;
    clearInterval(this.#watch);
    if (client === undefined) return;
    const ended = client.end().catch(() => undefined);
    const givenUp = setTimeout(() => this.#cut(client), CLOSE_MS);
    await ended;
    clearTimeout(givenUp);
  }
}
