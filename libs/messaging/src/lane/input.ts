import type { Envelope, EventData, EventName, Principal } from '@lineclear/contracts';
import type { Failure } from '@lineclear/errors';

/** `key` is the aggregate: it decides the shard, and inputs of one key are handled in their order of arrival. */
interface InputBase {
  readonly id: string;
  readonly key: string;
  readonly shard: number;
}

/** An event of the bus. `id` is the event's id; data is valid by the contract's schema. */
export interface EventInput<N extends EventName = EventName> extends InputBase {
  readonly kind: 'event';
  readonly name: N;
  readonly event: Envelope<EventData<N>>;
  /** comes from `held`, not from the bus */
  readonly redriven: boolean;
  /** JSON text of the data as it is on the wire; there whenever a lane made the input */
  readonly text?: string;
}

/** A row of the mailbox: HTTP, CLI, ingress of `tasks`, or another shard of the same service. */
export interface CommandInput<P = unknown> extends InputBase {
  readonly kind: 'command';
  readonly name: string;
  readonly tenant: string;
  readonly payload: P;
  /** null: the platform itself */
  readonly by: Principal | null;
}

export interface TimerInput<P = unknown> extends InputBase {
  readonly kind: 'timer';
  readonly name: string;
  readonly payload: P;
  readonly dueAt: Date;
}

/**
 * `lost`: the owner died and the job's rule is to be told (at once, or when no attempt can act any more).
 * `not-dispatched`: the executor saw before sending that dispatch-by had passed, or the job was aborted while it waited.
 */
export type JobOutcome<R = unknown> =
  | { readonly status: 'done'; readonly result: R }
  | { readonly status: 'failed'; readonly failure: Failure }
  | { readonly status: 'lost' }
  | { readonly status: 'not-dispatched'; readonly reason: string };

/** The result of a job, with the attempt it belongs to. `id` is the job's id. */
export interface JobInput<P = unknown, R = unknown> extends InputBase {
  readonly kind: 'job';
  readonly job: string;
  readonly attempt: number;
  readonly payload: P;
  readonly outcome: JobOutcome<R>;
}

/** A job that waited for a slot is about to be committed as dispatched: the last moment to stop it (`writes.dropJob`). */
export interface DispatchInput<P = unknown> extends InputBase {
  readonly kind: 'dispatch';
  readonly job: string;
  readonly attempt: number;
  readonly payload: P;
}

/** An operator dropped a held message: answer it so that nobody waits for what is gone. */
export interface DroppedInput<N extends EventName = EventName> extends InputBase {
  readonly kind: 'dropped';
  readonly name: N;
  readonly event: Envelope<EventData<N>>;
  readonly by: string;
  readonly reason: string;
}

export type LaneInput = EventInput | CommandInput | TimerInput | JobInput | DispatchInput | DroppedInput;
