import type { Topic } from '@lineclear/contracts';
import { HeldIndex } from '../held/held-index.js';
import type { JobRow } from '../jobs/job-row.js';
import type { CacheOwner } from './state-cache.js';

/** A timer whose due time is near. Times in milliseconds on the database's clock. */
export interface TimerEntry {
  readonly shard: Shard;
  readonly key: string;
  readonly name: string;
  readonly dueAt: number;
  /** JSON text */
  readonly payload: string;
}

/**
 * What the owner knows of a shard as taken at one epoch: a retake makes a new one.
 * INVARIANT: everything here agrees with the database after each commit; nothing is changed before it.
 */
export class Shard implements CacheOwner {
  isLost = false;
  /** the bus knows the positions: records are taken from now on */
  isOpen = false;
  /** next offset of each topic of ours */
  readonly heads = new Map<Topic, bigint>();
  /** next offset to read of each topic, and under `published/<topic>` what the relay sent */
  readonly positions = new Map<string, bigint>();
  /** messages of each topic that are queued or in a batch */
  readonly pending = new Map<Topic, number>();
  /** timers that are near, by timerKey */
  readonly timers = new Map<string, TimerEntry>();
  readonly jobs = new Map<string, JobRow>();
  readonly held = new HeldIndex();
  /** dropped messages, by `message` */
  readonly drops = new Set<string>();

  constructor(
    readonly id: number,
    readonly epoch: string,
  ) {}
}
