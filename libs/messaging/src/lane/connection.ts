import { connectClient, type DatabaseConfig, toDatabaseError } from '@lineclear/persistence';
import type pg from 'pg';
import { TransientError } from '@lineclear/errors';
import type { ReadHandle } from './batch.js';

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
  readonly #names = new Map<string, string>();

  constructor(
    private readonly config: DatabaseConfig,
    private readonly name: string,
  ) {}

  get schema(): string {
    return this.config.schema;
  }

  /** Connects anew; everything prepared is forgotten. @throws TransientError, ConfigError */
  async connect(): Promise<void> {
    await this.close();
    const onError = () => {
      this.#client = undefined;
    };
    const client = await connectClient(this.config, { name: this.name, plan: 'generic', onError });
    this.#names.clear();
    await client.query(SETTINGS);
    this.#client = client;
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
    try {
      return (await client.query<R>(query)).rows;
    } catch (error) {
      throw toDatabaseError(error, this.config);
    }
  }

  async close(): Promise<void> {
    const client = this.#client;
    this.#client = undefined;
    await client?.end().catch(() => undefined);
  }
}
