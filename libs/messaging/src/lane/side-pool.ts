import { connectionOptions, type DatabaseConfig, toDatabaseError } from '@lineclear/persistence';
import pg from 'pg';

/** Losing a checked-out client without a listener would end the process. */
class ListenedClient extends pg.Client {
  constructor(config?: string | pg.ClientConfig) {
    super(config);
    this.on('error', () => undefined);
  }
}

/** A peer that accepts and then says nothing must not hold its caller for good. */
const QUERY_LIMIT_MS = 30_000;

/** Connections beside the lane's own, for what must not wait for a batch: mailbox inserts, liveness, polls. */
export class SidePool {
  readonly #pool: pg.Pool;

  constructor(
    private readonly config: DatabaseConfig,
    name: string,
    size = 4,
  ) {
    this.#pool = new pg.Pool({
      ...connectionOptions(config),
      application_name: name,
      max: size,
      idleTimeoutMillis: 30_000,
      query_timeout: QUERY_LIMIT_MS,
      Client: ListenedClient,
    });
    this.#pool.on('error', () => undefined);
  }

  /** @throws TransientError when the database is away */
  async query<R extends object>(text: string, values: readonly unknown[] = []): Promise<R[]> {
    try {
      return (await this.#pool.query<R>(text, [...values])).rows;
    } catch (error) {
      throw toDatabaseError(error, this.config);
    }
  }

  async end(): Promise<void> {
    await this.#pool.end();
  }
}
