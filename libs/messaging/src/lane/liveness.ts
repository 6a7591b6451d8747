import type { SidePool } from './side-pool.js';

const BEAT_MS = 2_000;
/** An owner that has not been seen for this long counts as dead. */
const DEAD_AFTER_MS = 10_000;

/** The liveness row of this process start, and who else is alive (messaging.md section 6). */
export class Liveness {
  #timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly pool: SidePool,
    readonly owner: string,
    /** this process is the only one: every other owner is dead */
    private readonly isExclusive: () => boolean,
  ) {}

  /** @throws TransientError */
  async start(): Promise<void> {
    await this.#beat();
    this.#timer = setInterval(() => void this.#beat().catch(() => undefined), BEAT_MS);
    this.#timer.unref();
  }

  async #beat(): Promise<void> {
    await this.pool.query(
      'INSERT INTO owner (id) VALUES ($1) ON CONFLICT (id) DO UPDATE SET seen_at = clock_timestamp()',
      [this.owner],
    );
  }

  /** @throws TransientError */
  async aliveOwners(): Promise<ReadonlySet<string>> {
    if (this.isExclusive()) return new Set([this.owner]);
    const rows = await this.pool.query<{ id: string }>(
      `SELECT id FROM owner WHERE seen_at > clock_timestamp() - interval '${DEAD_AFTER_MS} milliseconds'`,
    );
    return new Set([...rows.map(({ id }) => id), this.owner]);
  }

  /** Ends without a word, as a crash does. */
  abandon(): void {
    clearInterval(this.#timer);
  }

  async stop(): Promise<void> {
    this.abandon();
    await this.pool.query('DELETE FROM owner WHERE id = $1', [this.owner]);
  }
}
