import type { EventName } from '@lineclear/contracts';
import type { LaneBatch, LaneContext } from './batch.js';
import type { EventInput, LaneInput } from './input.js';

/** What a handler takes. One handler for many patterns sees the inputs of a key in their order, whatever their kind. */
export interface Patterns {
  readonly events?: readonly EventName[];
  readonly commands?: readonly string[];
  readonly timers?: readonly string[];
  /** results of jobs of these kinds */
  readonly jobs?: readonly string[];
  /** jobs of these kinds that waited for a slot */
  readonly dispatches?: readonly string[];
  /** events of these names that an operator dropped from `held` */
  readonly dropped?: readonly EventName[];
  /** Every event of the topics that the service reads and no other handler names, also of types that this version does not know (archives). */
  readonly anyEvent?: boolean;
  /**
   * Whether this bus input goes on although an earlier message of its key is held, such as completions of a run that is stopping. Asked only
   * for held keys. `run.stop-started` always goes on.
   */
  readonly passesHeld?: (input: EventInput, batch: Pick<LaneBatch, 'load' | 'state'>) => Promise<boolean> | boolean;
  /** Name of a consumer: events of this handler are deduplicated by an inbox row (consumer, source, id). CAUTION: persisted. */
  readonly inbox?: string;
}

/** May be async for loading; resolves when every input was given to `attempt` or `fail`. A rejection fails every input not yet given. */
export type BatchHandler = (inputs: readonly LaneInput[], batch: LaneBatch) => Promise<void>;
export type SingleHandler = (input: LaneInput, context: LaneContext) => Promise<void> | void;

export interface RunningJob<P = unknown> {
  readonly id: string;
  readonly kind: string;
  readonly key: string;
  readonly tenant: string;
  readonly attempt: number;
  readonly payload: P;
  readonly timeoutMs: number;
  /** CAUTION: call right before the first byte leaves; throws when dispatch-by has passed on the monotonic clock (reported as `not-dispatched`). */
  assertMayDispatch(): void;
}

/** Work outside a transaction. Throwing gives outcome `failed`; `signal` aborts on time-out, abort and shutdown. */
export type JobExecutor = (job: RunningJob, signal: AbortSignal) => Promise<unknown>;

export interface JobKind {
  readonly kind: string;
  /** jobs of this kind that run at once in this process */
  readonly concurrency: number;
}
