import { InvariantViolationError } from '@lineclear/errors';
import { type CustomTransportStrategy, type MessageHandler, Server } from '@nestjs/microservices';
import { lastValueFrom } from 'rxjs';
import type { BatchHandler, JobExecutor, SingleHandler } from '../lane/handlers.js';
import type { Lane } from '../lane/lane.js';
import type { Executor, Handler } from '../lane/registry.js';
import { LANE_TRANSPORT, type LaneExtras } from './decorators.js';

type Status = 'connected' | 'disconnected';

/** Runs a lane as a Nest microservice: binds the decorated methods, starts with `listen` and drains with `close`. */
export class LaneTransportStrategy extends Server<Record<string, never>, Status> implements CustomTransportStrategy {
  override readonly transportId = LANE_TRANSPORT;
  override readonly propagatesEventHandlerErrors = true;
  #closing: Promise<void> | undefined;

  /** @param options.drainMs how long a stop waits for open jobs, see Lane.stop */
  constructor(
    private readonly lane: Lane,
    private readonly options: { readonly drainMs?: number } = {},
  ) {
    super();
  }

  /** Calls back when the lane has its shards; with the error when it cannot start. */
  async listen(callback: (error?: unknown) => void): Promise<void> {
    try {
      const { handlers, executors } = this.#bound();
      await this.lane.start(handlers, executors);
      this._status$.next('connected');
    } catch (error) {
      return callback(error);
    }
    callback();
  }

  async close(): Promise<void> {
    this.#closing ??= this.lane.stop(this.options);
    await this.#closing;
    this._status$.next('disconnected');
  }

  on(): void {
    throw new InvariantViolationError('invariant-violated', 'a lane has no events to listen to');
  }

  override unwrap<T>(): T {
    return this.lane as T;
  }

  #bound(): { handlers: Handler[]; executors: Executor[] } {
    const handlers: Handler[] = [];
    const executors: Executor[] = [];
    for (const [pattern, method] of this.messageHandlers) {
      const lane = laneExtras(method);
      if (lane === undefined) throw broken(`handler \`${pattern}\` is not bound by @Handles or @ExecutesJob`);
      if (method.next !== undefined) throw broken(`two controllers have a method \`${lane.name}\`; rename one`);
      if (lane.role === 'executor') executors.push({ kind: lane.kind, execute: call<JobExecutor>(method) });
      else if (lane.batch) handlers.push({ ...lane, batch: true, handle: call<BatchHandler>(method) });
      else handlers.push({ ...lane, batch: false, handle: call<SingleHandler>(method) });
    }
    return { handlers, executors };
  }
}

function laneExtras(method: MessageHandler): LaneExtras | undefined {
  return (method.extras as { lane?: LaneExtras } | undefined)?.lane;
}

/** Goes through Nest's own handler, so that guards, pipes and interceptors apply; its answer may be a promise of an observable. */
function call<F extends (...args: never[]) => unknown>(method: MessageHandler): F {
  const handle = async (data: unknown, context: unknown): Promise<unknown> => {
    const answer: unknown = await method(data, context);
    return isObservableLike(answer) ? await lastValueFrom(answer, { defaultValue: undefined }) : answer;
  };
  return handle as unknown as F;
}

function isObservableLike(value: unknown): value is Parameters<typeof lastValueFrom>[0] {
  return typeof value === 'object' && value !== null && 'subscribe' in value;
}

function broken(message: string): InvariantViolationError {
  return new InvariantViolationError('invariant-violated', message);
}
